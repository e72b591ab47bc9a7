#if Postgres
    import CPostgreSQL

    /// A parameter, in PostgreSQL's binary form.
    struct PostgresParameter {
        let bytes: [UInt8]

        static func bytes(_ value: [UInt8]) -> PostgresParameter { PostgresParameter(bytes: value) }

        static func number(_ value: Int64) -> PostgresParameter {
            PostgresParameter(bytes: bigEndian(value))
        }

        static func truth(_ value: Bool) -> PostgresParameter {
            PostgresParameter(bytes: [value ? 1 : 0])
        }

        static func bytesArray(_ values: [[UInt8]?]) -> PostgresParameter {
            array(values, type: 17)
        }

        static func numberArray(_ values: [Int64?]) -> PostgresParameter {
            array(values.map { $0.map { bigEndian($0) } }, type: 20)
        }

        static func truthArray(_ values: [Bool]) -> PostgresParameter {
            array(values.map { [$0 ? 1 : 0] }, type: 16)
        }

        /// - Parameter type: the number of the elements' type, in the server's catalog.
        private static func array(_ values: [[UInt8]?], type: Int32) -> PostgresParameter {
            guard !values.isEmpty else {
                return PostgresParameter(
                    bytes: bigEndian(Int32(0)) + bigEndian(Int32(0)) + bigEndian(type))
            }
            var bytes = bigEndian(Int32(1)) + bigEndian(Int32(values.contains(nil) ? 1 : 0))
            bytes += bigEndian(type) + bigEndian(Int32(values.count)) + bigEndian(Int32(1))
            for value in values {
                guard let value else {
                    bytes += bigEndian(Int32(-1))
                    continue
                }
                bytes += bigEndian(Int32(value.count)) + value
            }
            return PostgresParameter(bytes: bytes)
        }

        private static func bigEndian<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }
    }

    /// The rows of an answer, in PostgreSQL's binary form; `nil` where there is no value.
    struct PostgresRows: Sendable {
        var rows: [[[UInt8]?]] = []

        subscript(row: Int, column: Int) -> [UInt8]? { rows[row][column] }

        func number(_ row: Int, _ column: Int) -> UInt64? {
            guard let bytes = rows[row][column], bytes.count == 8 else { return nil }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }

        func truth(_ row: Int, _ column: Int) -> Bool { rows[row][column] == [1] }
    }

    extension PostgresRows {
        init(_ result: OpaquePointer) {
            let columnCount = PQnfields(result)
            for row in 0..<PQntuples(result) {
                rows.append(
                    (0..<columnCount).map { column in
                        guard PQgetisnull(result, row, column) == 0,
                            let start = PQgetvalue(result, row, column)
                        else { return nil }
                        let count = Int(PQgetlength(result, row, column))
                        return Array(UnsafeRawBufferPointer(start: start, count: count))
                    })
            }
        }
    }
#endif
