#if Observability
    import Roost
    import Tracing

    /// Spans of transactions, batches, cold loads and syncs: children of the span that the caller's task is in.
    struct WorkspaceTraces: Sendable {
        let name: String
        /// That of the caller's task where it is `nil`.
        let tracer: (any Tracer)?

        func begin(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)? {
            // `observe` calls this in the caller's task, whose context it then is.
            let tracer = tracer ?? InstrumentationSystem.tracer
            let span = tracer.startAnySpan("roost.\(kind.rawValue)")
            guard span.isRecording else {
                span.end()
                return nil
            }
            span.attributes["roost.workspace"] = name
            return WorkspaceSpan(span: span)
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
