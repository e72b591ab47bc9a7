#if Etcd
    import NIOCore
    import NIOHPACK
    import NIOHTTP2

    /// gRPC's framing over one HTTP/2 stream: each message after five bytes, its status in the trailers.
    ///
    /// - `received` is called for each message, and once at the end; on the event loop, in order.
    final class CallHandler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload

        enum Event {
            case message([UInt8])
            /// With no failure the server said that all went well.
            case ended(RemoteFailure?)
        }

        /// What etcd sends at once stays far below; more is not believed.
        private static let messageLimitBytes = 512 << 20

        private let received: (Event) -> Void
        private var buffer = ByteBuffer()
        private var hasEnded = false

        init(_ received: @escaping (Event) -> Void) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .headers(let headers): take(headers.headers)
            case .data(let data):
                guard case .byteBuffer(var bytes) = data.data else { return }
                buffer.writeBuffer(&bytes)
                takeMessages(context)
            case .rstStream(let code):
                end(RemoteFailure(.unavailable, "the stream was reset: \(code)", wasSent: true))
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            end(RemoteFailure(.unavailable, "the connection was closed", wasSent: true))
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            end(
                RemoteFailure(
                    .unavailable, "the connection broke", wasSent: true, cause: error))
            context.close(promise: nil)
        }

        private func take(_ headers: HPACKHeaders) {
            if let status = headers.first(name: ":status"), status != "200" {
                end(
                    RemoteFailure(
                        .unavailable, "the server answered with HTTP status \(status): no etcd?",
                        wasSent: true))
            }
            guard let text = headers.first(name: "grpc-status"), let number = Int(text) else {
                return
            }
            guard number != 0 else { return end(nil) }
            let message = headers.first(name: "grpc-message")?.percentDecoded ?? ""
            end(
                RemoteFailure(
                    RemoteFailure.Code(rawValue: number) ?? .unknown, message, wasSent: true,
                    isAnswer: true))
        }

        private func takeMessages(_ context: ChannelHandlerContext) {
            while let isCompressed = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
                let count = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self)
            {
                guard isCompressed == 0, count <= Self.messageLimitBytes else {
                    end(
                        RemoteFailure(
                            .internal, "the server sent what is no gRPC message", wasSent: true))
                    return context.close(promise: nil)
                }
                guard buffer.readableBytes >= 5 + Int(count) else { return }
                buffer.moveReaderIndex(forwardBy: 5)
                received(.message(buffer.readBytes(length: Int(count)) ?? []))
            }
            buffer.discardReadBytes()
        }

        private func end(_ failure: RemoteFailure?) {
            guard !hasEnded else { return }
            hasEnded = true
            received(.ended(failure))
        }
    }

    extension [UInt8] {
        /// As gRPC sends a message.
        var framed: ByteBuffer {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(5 + count)
            buffer.writeInteger(UInt8(0))
            buffer.writeInteger(UInt32(count))
            buffer.writeBytes(self)
            return buffer
        }
    }

    extension String {
        /// gRPC's messages of statuses have bytes as `%XX`.
        fileprivate var percentDecoded: String {
            var plain: [UInt8] = []
            var rest = Array(utf8)[...]
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), let decoded = UInt8(digits, radix: 16) {
                    plain.append(decoded)
                    rest = rest.dropFirst(2)
                } else {
                    plain.append(byte)
                }
            }
            return String(decoding: plain, as: UTF8.self)
        }
    }
#endif
