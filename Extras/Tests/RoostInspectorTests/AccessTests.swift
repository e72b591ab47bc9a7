import Foundation
import Roost
import RoostInspector
import Testing

@Suite("Who may come to the inspector")
struct AccessTests {
    static let addresses = [
        "/app.js", "/style.css", "/api/workspace", "/api/dictionaries", "/api/storage",
        "/api/changes", "/api/entries?dictionary=a", "/api/verify", "/nothing",
    ]

    @Test("without a session every address is refused, and the page says how to come in")
    func withoutSession() async throws {
        try await withServer { server in
            for address in Self.addresses {
                let answer = try await server.get(address, ["Cookie": nil])
                #expect(answer.status == 401 && answer.code == "noSession", "\(address)")
            }
            let page = try await server.get("/", ["Cookie": nil])
            #expect(page.status == 401 && page.body.contains("open the link"))
            #expect(try await server.get("/api/workspace").status == 200)
        }
    }

    @Test("a port that another server has is named")
    func portInUse() async throws {
        try await withServer { server in
            let second = Inspector(
                server.workspace, configuration: .init(port: server.port)
            ) { _ in }
            let error = await #expect(throws: RoostError.self) { try await second.run() }
            #expect(error?.code == .io)
            #expect(error?.message.contains("port \(server.port) ") == true, "\(error as Any)")
            let answer = try await server.get("/api/workspace")
            #expect(answer.status == 200)
        }
    }

    @Test("a session that nobody was given is refused")
    func otherCookies() async throws {
        try await withServer { server in
            let name = try #require(server.cookie).components(separatedBy: "=")[0]
            let secret = try #require(server.cookie).components(separatedBy: "=")[1]
            for value in [
                "", "0", secret.dropLast() + "x", secret + "0", String(repeating: "0", count: 64),
            ] {
                let answer = try await server.get("/api/workspace", ["Cookie": "\(name)=\(value)"])
                #expect(answer.status == 401, "\(value)")
            }
            // Another inspector's, of another port.
            let other = try await server.get(
                "/api/workspace", ["Cookie": "roost-inspector-1=\(secret)"])
            #expect(other.status == 401)
        }
    }

    @Test("the cookie alone, as other servers on this machine get it, shows and changes nothing")
    func cookieAlone() async throws {
        try await withServer(allowsWriting: true) { workspace in
            try await workspace.dictionary("d").set(1, forKey: "a")
        } _: { server in
            let key = try #require(server.key)
            let body = #"{"dictionary":"d","key":"a","version":1,"text":"2"}"#
            let wrongKeys: [String?] = [
                nil, "", "0", String(key.dropLast()) + "x", key + "0", key + " " + key,
                server.cookie?.components(separatedBy: "=")[1],
            ]
            for wrong in wrongKeys {
                for address in Self.addresses where address.hasPrefix("/api/") {
                    let answer = try await server.get(address, ["Roost-Inspector-Key": wrong])
                    #expect(answer.status == 401 && answer.code == "noKey", "\(address)")
                }
                for (method, address) in [
                    ("PUT", "/api/value"), ("DELETE", "/api/value"), ("POST", "/api/verify"),
                ] {
                    let answer = try await server.change(
                        method, address, body, ["Roost-Inspector-Key": wrong])
                    #expect(answer.status == 401 && answer.code == "noKey", "\(method)")
                }
            }
            // The page's files are the same for everybody.
            #expect(try await server.get("/", ["Roost-Inspector-Key": nil]).status == 200)
            #expect(try await server.get("/api/workspace").status == 200)
        } afterwards: { workspace in
            let stored = try workspace.dictionary("d").value(forKey: "a", as: Int.self)
            #expect(stored == 1)
        }
    }

    @Test("the key alone is refused, and so is one session's with another one's cookie")
    func keyAlone() async throws {
        try await withServer { server in
            let alone = try await server.get("/api/workspace", ["Cookie": nil])
            #expect(alone.status == 401 && alone.code == "noSession")
            let link = try #require(server.inspector.makeLink())
            let second = try #require(try await server.open(link))
            #expect(second.key != server.key)
            let mixed = try await server.get("/api/workspace", ["Cookie": second.cookie])
            #expect(mixed.status == 401 && mixed.code == "noKey")
        }
    }

    @Test("a link lets one browser in, once")
    func linkOnce() async throws {
        try await withServer { server in
            #expect(server.cookie != nil && server.key != nil)
            #expect(try await server.open(server.link) == nil)
            let link = try #require(server.inspector.makeLink())
            let second = try #require(try await server.open(link))
            #expect(second.cookie != server.cookie)
            let answer = try await server.get(
                "/api/workspace", ["Cookie": second.cookie, "Roost-Inspector-Key": second.key])
            #expect(answer.status == 200)
            #expect(try await server.open(link) == nil)
            #expect(try await server.get("/open", ["Cookie": nil]).status == 401)
            #expect(try await server.get("/open?token=", ["Cookie": nil]).status == 401)
        }
    }

    @Test("the key stands in no address and no script, and no page of another origin reads it")
    func keyInNoAddress() async throws {
        try await withServer { server in
            let link = try #require(server.inspector.makeLink())
            let target = String(link[link.range(of: "/open")!.lowerBound...])
            let answer = try await server.get(target, ["Cookie": nil])
            #expect(answer.header("Location") == nil)
            #expect(answer.body.contains(#"<script type="module" src="/enter.js"></script>"#))
            #expect(answer.body.matches(of: /[0-9a-f]{64}/).count == 1)
            #expect(answer.header("Access-Control-Allow-Origin") == nil)
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(answer.header("Content-Security-Policy")?.contains("unsafe") == false)
        }
    }

    @Test("of many links that nobody used the newest sixteen are good")
    func linksAreBounded() async throws {
        try await withServer { server in
            var links: [String] = []
            for _ in 0..<20 { links.append(try #require(server.inspector.makeLink())) }
            var good: [Bool] = []
            for link in links { good.append(try await server.open(link) != nil) }
            #expect(good == (0..<20).map { $0 >= 4 })
        }
    }

    @Test("the cookie is kept from scripts, from other sites, and from other servers' names")
    func cookieAttributes() async throws {
        try await withServer { server in
            let link = try #require(server.inspector.makeLink())
            let target = String(link[link.range(of: "/open")!.lowerBound...])
            let answer = try await server.get(target, ["Cookie": nil])
            let cookie = try #require(answer.header("Set-Cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            #expect(cookie.hasPrefix("roost-inspector-\(server.port)="))
            #expect(!cookie.contains("Domain"))
        }
    }

    @Test(
        "another name than the server's own is refused, with the session or the link",
        arguments: [
            "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost",
            "127.0.0.1:PORT.evil.example", "localhost.:PORT", "0.0.0.0:PORT", "[::1]:PORT",
            "127.0.0.1:PORT@evil.example", "", "127.0.0.2:PORT",
        ])
    func otherHosts(name: String) async throws {
        try await withServer { server in
            let host = name.replacingOccurrences(of: "PORT", with: "\(server.port)")
            let answer = try await server.get("/api/workspace", ["Host": host])
            #expect(answer.status == 421 || answer.status == 400, "\(host): \(answer.status)")
            let link = try #require(server.inspector.makeLink())
            let target = String(link[link.range(of: "/open")!.lowerBound...])
            let opened = try await server.get(target, ["Host": host, "Cookie": nil])
            #expect(opened.header("Set-Cookie") == nil && opened.status != 200)
        }
    }

    @Test("without a Host header a request is refused, and localhost is a name of the server's")
    func hosts() async throws {
        try await withServer { server in
            #expect(try await server.get("/api/workspace", ["Host": nil]).status != 200)
            let local = try await server.get("/api/workspace", ["Host": "localhost:\(server.port)"])
            #expect(local.status == 200)
        }
    }

    @Test("a page of another origin is refused, though it has the session")
    func otherOrigins() async throws {
        try await withServer(allowsWriting: true) { server in
            for origin in [
                "http://evil.example", "null", "https://\(server.host)", "http://127.0.0.1:1",
                "http://localhost:\(server.port)", "file://", "",
            ] {
                for method in ["GET", "OPTIONS", "PUT", "DELETE", "POST"] {
                    let answer = try await server.request(
                        method, "/api/value?dictionary=a&key=b", ["Origin": origin])
                    #expect(
                        answer.status == 403 && answer.code == "otherOrigin", "\(origin) \(method)")
                    #expect(answer.header("Access-Control-Allow-Origin") == nil)
                }
            }
            for site in ["cross-site", "same-site"] {
                let answer = try await server.get("/api/workspace", ["Sec-Fetch-Site": site])
                #expect(answer.status == 403, "\(site)")
            }
            for site in ["same-origin", "none"] {
                let answer = try await server.get("/api/workspace", ["Sec-Fetch-Site": site])
                #expect(answer.status == 200, "\(site)")
            }
        }
    }

    @Test("a link may be followed from any page, but not be loaded by one")
    func followedLinks() async throws {
        try await withServer { server in
            for (mode, isIn) in [("cors", false), ("no-cors", false), ("navigate", true)] {
                let link = try #require(server.inspector.makeLink())
                let target = String(link[link.range(of: "/open")!.lowerBound...])
                let answer = try await server.get(
                    target, ["Cookie": nil, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode])
                #expect((answer.header("Set-Cookie") != nil) == isIn, "\(mode)")
            }
        }
    }

    @Test("every answer forbids to be framed, sniffed, cached, and to load from elsewhere")
    func securityHeaders() async throws {
        try await withServer { server in
            for (address, cookie) in [
                ("/", server.cookie), ("/app.js", server.cookie), ("/api/storage", server.cookie),
                ("/", nil), ("/nothing", server.cookie),
            ] {
                let answer = try await server.get(address, ["Cookie": cookie])
                let policy = try #require(answer.header("Content-Security-Policy"))
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(answer.header("X-Content-Type-Options") == "nosniff")
                #expect(answer.header("Referrer-Policy") == "no-referrer")
                #expect(answer.header("Cross-Origin-Resource-Policy") == "same-origin")
                #expect(answer.header("Cache-Control") == "no-store")
            }
        }
    }

    @Test("other methods than an address takes are refused")
    func methods() async throws {
        try await withServer(allowsWriting: true) { server in
            for (method, address) in [
                ("POST", "/api/entries?dictionary=a"), ("DELETE", "/api/dictionaries"),
                ("PUT", "/api/verify"), ("PATCH", "/api/value"), ("POST", "/api/value"),
                ("POST", "/open"), ("PUT", "/app.js"), ("HEAD", "/api/workspace"),
            ] {
                let answer = try await server.change(method, address, "")
                #expect(answer.status == 405, "\(method) \(address)")
            }
            #expect(try await server.get("/api/nothing").status == 404)
            #expect(try await server.get("/api/").status == 404)
            #expect(try await server.get("/../style.css").status == 404)
        }
    }
}
