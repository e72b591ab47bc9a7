#if Observability
    import Logging
    import Roost

    /// The log lines of a workspace. Messages are constant; what varies is metadata, whose keys
    /// docs/OBSERVABILITY.md lists.
    final class WorkspaceLogs: Sendable {
        private let logger: Logger
        private let slowLines = LogLimit()

        init(_ logger: Logger, name: String) {
            var logger = logger
            logger[metadataKey: "roost.workspace"] = "\(name)"
            self.logger = logger
        }

        func opened(_ path: String, _ recovery: RecoveryReport, after duration: Duration) {
            var metadata: Logger.Metadata = [
                "roost.path": "\(path)", "roost.duration_ms": duration.logValue,
                "roost.is_new": "\(recovery.isNew)",
                "roost.replayed_batches": "\(recovery.replayedBatchCount)",
                "roost.replayed_operations": "\(recovery.replayedOperationCount)",
                "roost.sequence": "\(recovery.lastSequence)",
            ]
            if !recovery.removedFiles.isEmpty {
                metadata["roost.removed_files"] = .array(recovery.removedFiles.map { "\($0)" })
            }
            logger.info("the workspace is open", metadata: metadata)
            for tail in recovery.tornTails {
                logger.warning(
                    "what a crash had left unfinished was cut off the log",
                    metadata: [
                        "roost.file": "\(tail.file)", "roost.offset": "\(tail.offset)",
                        "roost.size_bytes": "\(tail.sizeBytes)",
                        "roost.kept_as": "\(tail.keptAs ?? "-")",
                    ])
            }
        }

        func closed(after duration: Duration, _ error: RoostError?) {
            guard let error else {
                logger.info(
                    "the workspace is closed",
                    metadata: ["roost.duration_ms": duration.logValue])
                return
            }
            logger.error(
                "the workspace is closed, and not all was brought to disk",
                metadata: describe(error))
        }

        func compacted(
            _ compaction: ObservedCompaction, _ step: String, _ message: Logger.Message
        ) {
            logger.info(
                message,
                metadata: [
                    "roost.step": "\(step)", "roost.duration_ms": compaction.duration.logValue,
                    "roost.written_bytes": "\(compaction.writtenBytes)",
                    "roost.snapshots": "\(compaction.snapshotCount)",
                    "roost.tiers": "\(compaction.tierCount)",
                    "roost.sequence": "\(compaction.flushedSequence)",
                ])
        }

        func backedUp(_ report: BackupReport, after duration: Duration) {
            logger.info(
                "a backup is on disk",
                metadata: [
                    "roost.path": "\(report.path)", "roost.duration_ms": duration.logValue,
                    "roost.sequence": "\(report.lastSequence)",
                    "roost.copied_bytes": "\(report.copiedBytes)",
                    "roost.shared_bytes": "\(report.sharedBytes)",
                ])
        }

        func writersBeganToWait(for cause: ObservedOperation.Cause) {
            logger.warning("writers wait", metadata: ["roost.cause": "\(cause.rawValue)"])
        }

        func writersGoOn(after duration: Duration, _ cause: ObservedOperation.Cause) {
            logger.notice(
                "writers go on",
                metadata: [
                    "roost.cause": "\(cause.rawValue)", "roost.duration_ms": duration.logValue,
                ])
        }

        func slowSync(batchCount: UInt64, _ duration: Duration) {
            logSlow(
                "a sync was slow",
                [
                    "roost.batches": "\(batchCount)", "roost.duration_ms": duration.logValue,
                    "roost.cause": "disk",
                ])
        }

        func slow(_ operation: ObservedOperation) {
            var metadata: Logger.Metadata = [
                "roost.operation": "\(operation.kind.rawValue)",
                "roost.duration_ms": operation.duration.logValue,
                "roost.cause": "\(operation.cause?.rawValue ?? "unknown")",
            ]
            if operation.kind == .transaction {
                metadata["roost.attempts"] = "\(operation.attemptCount)"
            }
            logSlow("a call was slow", metadata)
        }

        private func logSlow(_ message: Logger.Message, _ metadata: Logger.Metadata) {
            guard let metadata = slowLines.admit(metadata) else { return }
            logger.warning(message, metadata: metadata)
        }

        func failed(_ error: RoostError, _ message: Logger.Message) {
            if error.code == .outOfSpace {
                return logger.error("the disk is full", metadata: describe(error))
            }
            logger.error(message, metadata: describe(error))
        }

        func copyFails(_ error: RoostError?) {
            guard let error else { return logger.notice("the storage takes the copy again") }
            logger.warning("the storage does not take the copy", metadata: describe(error))
        }

        func copyBasesFail(_ error: RoostError?) {
            guard let error else { return logger.notice("the copy's bases are written again") }
            logger.warning(
                "the copy's bases cannot be written, or what is not needed removed",
                metadata: describe(error))
        }

        func copyLostLog(lossCount: Int, historyCount: Int) {
            logger.warning(
                "log was lost to the copy, which begins anew",
                metadata: [
                    "roost.losses": "\(lossCount)", "roost.histories": "\(historyCount)",
                ])
        }

        func copyEnded(_ error: RoostError) {
            guard error.code == .fenced else {
                return logger.error("nothing more is copied", metadata: describe(error))
            }
            logger.critical(
                "another writer has taken over the copy: nothing more is copied",
                metadata: describe(error))
        }

        func poisoned(_ error: RoostError) {
            logger.critical(
                "the workspace takes no more writes: open it again", metadata: describe(error))
        }

        private func describe(_ error: RoostError) -> Logger.Metadata {
            var metadata: Logger.Metadata = [
                "roost.error_code": "\(error.code)", "roost.error": "\(error)",
            ]
            if let file = error.file { metadata["roost.file"] = "\(file)" }
            if let offset = error.offset { metadata["roost.offset"] = "\(offset)" }
            return metadata
        }
    }
#endif
