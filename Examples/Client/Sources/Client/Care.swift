import Roost

extension Client {
    static func checkCare(_ path: String) async throws {
        var workspace = try await Workspace.open(at: path)
        try check(workspace.recovery.tornTails.isEmpty, "it was closed")
        try await workspace.compact()
        let report = try await workspace.verify()
        try check(report.isSound, "\(report.damages)")
        try check(report.recordCount > 0 && report.fileCount > 0, "it looked")
        let figures = workspace.statistics
        try check(figures.snapshotCount > 0 && figures.logKeyCount == 0, "all is in snapshots")
        try check(figures.snapshotSizeBytes > 0 && figures.snapshotBytesWritten > 0, "it counts")
        try await workspace.backup(to: "\(path)-backup")
        let copy = try await Workspace.open(at: "\(path)-backup")
        let names = try copy.dictionaryNames
        try check(names == (try workspace.dictionaryNames), "all is in the backup")
        try await copy.close()
        try await workspace.close()

        workspace = try await Workspace.open(at: path)
        try check(workspace.recovery.replayedBatchCount == 0, "nothing is replayed")
        try check(workspace.statistics.residentCount == 0, "nothing is read ahead")
        let users = workspace.dictionary("users")
        let loaded = try await users.load("alan", as: User.self)
        try check(loaded == User(name: "Alan", age: 41), "a cold value is loaded")
        try check(workspace.statistics.coldReadCount > 0, "it came from a snapshot")
        try check(workspace.statistics.residentCount == 1, "it is resident now")
        try check(try users["alan", as: User.self] == loaded, "and read again")
        try await workspace.close()
        try await expect(.closed) { try await workspace.compact() }
        try await expect(.closed) { _ = try await workspace.verify() }
    }
}
