import Foundation
import Hummingbird

extension RequestContext {
    /// A part of the path as it is meant. The router leaves it as it was sent, such as `a%20b` for `a b`: one client would have
    /// several names.
    func plain(_ name: String) throws -> String {
        guard let plain = try parameters.require(name).removingPercentEncoding else {
            throw HTTPError(.badRequest, message: "the \(name) is no percent-encoded UTF-8")
        }
        return plain
    }
}
