#if Inspector
    import HTTPTypes
    import Hummingbird

    /// What a browser shows: the files of the folder `Page`, which are part of the program.
    enum Pages {
        private static let files: [String: (bytes: [UInt8], type: String)] = [
            "/": (PackageResources.index_html, html),
            "/style.css": (PackageResources.style_css, "text/css; charset=utf-8"),
            "/app.js": (PackageResources.app_js, script),
            "/enter.js": (PackageResources.enter_js, script),
            "/key.js": (PackageResources.key_js, script),
            "/stream.js": (PackageResources.stream_js, script),
            "/server.js": (PackageResources.server_js, script),
            "/elements.js": (PackageResources.elements_js, script),
            "/sidebar.js": (PackageResources.sidebar_js, script),
            "/keys.js": (PackageResources.keys_js, script),
            "/value.js": (PackageResources.value_js, script),
            "/objects.js": (PackageResources.objects_js, script),
            "/changes.js": (PackageResources.changes_js, script),
            "/storage.js": (PackageResources.storage_js, script),
            "/health.js": (PackageResources.health_js, script),
            "/icon.svg": (PackageResources.icon_svg, "image/svg+xml"),
            // Some browsers ask for it whatever the page says, and write on the console that it is missing.
            "/favicon.ico": (PackageResources.icon_svg, "image/svg+xml"),
        ]

        private static let html = "text/html; charset=utf-8"
        private static let script = "text/javascript; charset=utf-8"

        static func file(_ path: String) throws -> Response {
            guard let file = files[path] else {
                throw Refusal.notFound("there is nothing at this address")
            }
            return Response(
                status: .ok, headers: [.contentType: file.type],
                body: .init(byteBuffer: ByteBuffer(bytes: file.bytes)))
        }

        /// Sets the session's cookie, hands its key to the page's script, and goes on by an own step of the
        /// browser: a cookie of this kind would not be sent along a redirection that began on another
        /// page. The key stands in no address, which the browser's history would keep.
        static func opened(_ entrance: AccessGuard.Entrance) -> Response {
            var response = page(
                "<meta name=\"roost-inspector-key\" content=\"\(entrance.key)\"><title>Roost</title>"
                    + "<script type=\"module\" src=\"/enter.js\"></script>"
                    + "<noscript><p>The inspector needs JavaScript.</p></noscript>", .ok)
            response.setCookie(entrance.cookie)
            return response
        }

        static func refused(_ refusal: Refusal) -> Response {
            page(
                "<title>Roost: no way in</title><h1>No way in</h1><p>To come in, \(refusal.message).</p>",
                refusal.status)
        }

        private static func page(_ body: String, _ status: HTTPResponse.Status) -> Response {
            let text =
                "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
                + "<meta name=\"viewport\" content=\"width=device-width\">\(body)</html>"
            return Response(
                status: status, headers: [.contentType: html],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
    }
#endif
