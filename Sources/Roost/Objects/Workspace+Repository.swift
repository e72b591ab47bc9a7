import RoostCoding

// Each call stands for two kinds of coding and two of identifiers. A type that is both `Codable` and
// `BinaryCodable` takes the binary one, and an identifier that has a key of its own takes that.

extension Workspace {
    /// The repository of the objects of a type. Costs nothing and touches nothing.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - name: The dictionary that holds the objects; the type's name, without its module and without what it is nested
    ///     in, where it is `nil`. Give one to types that are nested or may be renamed. Of two types that have one such name,
    ///     as `Cart.Item` and `Order.Item`, only the first that is written may be: a write of the other is `.conflict`.
    public func repository<Item: BinaryCodable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item> where Item.ID: KeyRepresentable {
        repository(type, name, .binary(), .own)
    }

    /// The repository of the objects of a type; as the other `repository(of:named:)`.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item> where Item.ID: KeyRepresentable {
        repository(type, name, .codable(), .own)
    }

    /// The repository of the objects of a type whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: BinaryCodable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        repository(type, name, .binary(), .raw)
    }

    /// The repository of the objects of a type whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        repository(type, name, .codable(), .raw)
    }

    /// The repository of the objects of a type that is coded in both ways, whose identifiers have a raw value that is a key.
    @_disfavoredOverload
    public func repository<Item: BinaryCodable & Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item>
    where Item.ID: RawRepresentable & Sendable, Item.ID.RawValue: KeyRepresentable {
        repository(type, name, .binary(), .raw)
    }

    /// The repository of the objects of a type whose identifiers are keys and have a raw value that is one.
    @_disfavoredOverload
    public func repository<Item: Codable & Identifiable & Sendable>(
        of type: Item.Type, named name: String? = nil
    ) -> Repository<Item>
    where Item.ID: KeyRepresentable & RawRepresentable, Item.ID.RawValue: KeyRepresentable {
        repository(type, name, .codable(), .own)
    }

    private func repository<Item: Identifiable & Sendable>(
        _ type: Item.Type, _ name: String?, _ codec: ValueCodec<Item>,
        _ identifiers: IdentifierForm<Item.ID>
    ) -> Repository<Item> where Item.ID: Sendable {
        Repository(
            dictionary(name ?? "\(type)"), codec, identifiers, isNamed: name != nil)
    }
}
