#if Macros
    @_exported import RoostCoding

    /// Makes a struct or an enum `BinaryCodable`, from the numbers of its fields.
    ///
    /// ```swift
    /// @BinaryCodable struct Draft {
    ///     @Field(1) var title: String
    ///     @Field(2) var tags: [String] = []
    /// }
    ///
    /// @BinaryCodable enum Shape {
    ///     @Field(1) case point
    ///     @Field(2) case circle(radius: Double)
    /// }
    /// ```
    ///
    /// A stored value that lacks a field reads as the default of the property; an optional property
    /// without one reads as `nil`; otherwise reading throws. Every stored property of a struct, and
    /// every case of an enum, needs a number of its own. The values of a case are numbered from one,
    /// in the order in which they are written: add new ones at the end, with a default.
    ///
    /// A property needs a written type, unless its value is a plain literal: `var count = 0`. A
    /// constant must not have a value. Generic parameters that are stored must be constrained to
    /// ``BinaryCodable``. An enum with raw values needs no macro: `enum Theme: String, BinaryCodable`.
    ///
    /// Where the main actor is the default isolation, a type may stay on it; it must be `nonisolated`
    /// where a default refers to a static property of its module, and for `onlyIfChanged` and
    /// migrations, which compare and convert values on any thread.
    ///
    /// A struct without generic parameters, and not in an `extension`, says too where its fields are (``StoredFields``), so that
    /// queries of a repository read those that they ask of, and make the objects that match.
    ///
    /// A property wrapper is asked for the value when it is written and given it when it is read; a query reads such a
    /// property with the whole object. A default stands in the written code outside the type, so that what it takes from a type
    /// around it needs that type's name: `Shop.limit`, or `.euro`.
    ///
    /// Never give the number of a dropped field or case to a new one. A property whose integer becomes one with a sign, or is one
    /// no longer, and a `Bool` that becomes a number, need a new number too. A property that is spelled as an
    /// optional (`Int?`) and has a default other than `nil` is stored in a form of its own: give a property that becomes such a one, or
    /// is one no longer, a new number.
    @attached(
        extension, conformances: BinaryCodable, StoredFields,
        names: named(binaryShape), named(init(from:)), named(encode(into:)), named(storedFields))
    public macro BinaryCodable() =
        #externalMacro(module: "RoostMacrosPlugin", type: "BinaryCodableMacro")

    /// The number of a stored property, or of a case, in the stored form: from 1 to 536,870,911.
    @attached(peer)
    public macro Field(_ number: Int) =
        #externalMacro(module: "RoostMacrosPlugin", type: "FieldMacro")
#endif
