#if Inspector
    import Hummingbird

    /// The arguments after an address.
    struct Query: Sendable {
        private var values: [String: String] = [:]

        init(_ request: Request) {
            for (name, value) in request.uri.queryParameters {
                values[String(name)] = String(value)
            }
        }

        subscript(_ name: String) -> String? { values[name] }

        func required(_ name: String) throws -> String {
            guard let value = values[name] else { throw Refusal.badRequest("\(name) is missing") }
            return value
        }

        /// A number from 1 to `limit`; `usual` where there is none.
        func count(_ name: String, usual: Int, upTo limit: Int) throws -> Int {
            guard let text = values[name] else { return usual }
            guard let count = Int(text), count > 0, count <= limit else {
                throw Refusal.badRequest("\(name) is a number from 1 to \(limit)")
            }
            return count
        }

        func isDescending() throws -> Bool {
            switch values["order"] {
            case nil, "ascending": false
            case "descending": true
            case .some: throw Refusal.badRequest("order is ascending or descending")
            }
        }
    }
#endif
