import RoostIO
import Testing

@testable import RoostEtcd
@testable import RoostPostgres

/// Errors about addresses have nothing of a user or a password in them.
@Suite struct AddressTests {
    @Test(arguments: [
        "https://user:secret@host:2379", "ftp://user:secret@host",
        "https://us@er:se/cret@host:2379",
        "user:secret@host:2379", "https://user:secret@host:port",
    ])
    func noEndpointsUserIsInAnError(text: String) {
        let error = #expect(throws: RoostError.self) { try EtcdEndpoint(text) }
        #expect(error.map { "\($0)" }?.contains("host") == true)
        for word in ["secret", "se/cret", "us@er", "user:"] {
            #expect(error.map { "\($0)" }?.contains(word) == false, "\(word) of \(text)")
        }
    }

    @Test(arguments: [
        "postgres://user:se/cret@host/name", "postgres://user:se@cret@host/name",
        "postgres://user:12/se@cret@host:5432/name", "postgres://user:secret@host:secret/name",
        "mysql://user:secret@host/name",
    ])
    func aMalformedAddressIsRefusedWithoutItsParts(address: String) {
        let error = #expect(throws: RoostError.self) { try PostgresAddress.check(address) }
        #expect(error?.code == .io)
        for word in ["secret", "cret", "12/se"] {
            #expect(error.map { "\($0)" }?.contains(word) == false, "\(word) of \(address)")
        }
    }

    @Test(arguments: [
        "postgres://user:p%40ss%2Fword@a,b:5433/name?target_session_attrs=read-write",
        "postgresql://[::1]:5432/name", "postgres:///name?host=/run/postgresql&user=me@home",
        "postgres://host", "host=a,b user=me password='://@/' dbname=name", "dbname=name",
    ])
    func soundAddressesAreTaken(address: String) {
        #expect(throws: Never.self) { try PostgresAddress.check(address) }
    }
}
