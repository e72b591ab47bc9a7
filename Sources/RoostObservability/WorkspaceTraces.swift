#if Observability
    import Roost
    import Tracing

    /// Spans of transactions, batches, cold loads and syncs: children of the span that the caller's task is in.
    struct WorkspaceTraces: Sendable {
        let name: String
        /// That of the caller's task where it is `nil`.
        let tracer: (any Tracer)?

        func begin(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)? {
            beginSpan("roost.\(kind.rawValue)").map { WorkspaceSpan(span: $0) }
        }

        /// A span that is recorded; `nil` where nobody records one. To be called in the caller's task, whose context it
        /// then is.
        func beginSpan(_ operationName: String) -> (any Span)? {
            let tracer = tracer ?? InstrumentationSystem.tracer
            let span = tracer.startAnySpan(operationName)
            guard span.isRecording else {
                span.end()
                return nil
            }
            span.attributes["roost.workspace"] = name
            return span
        }
    }

    private struct WorkspaceSpan: ObservedSpan {
        let span: any Span

        func ended(_ operation: ObservedOperation, _ error: (any Error)?) {
            if let cause = operation.cause { span.attributes["roost.cause"] = cause.rawValue }
            if operation.kind == .transaction {
                span.attributes["roost.attempts"] = operation.attemptCount
            }
            if let error {
                span.recordError(error)
                span.setStatus(.init(code: .error))
            }
            span.end()
        }
    }
#endif
