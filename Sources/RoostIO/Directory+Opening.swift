extension Directory {
    /// What `open` makes of the file `name`; `nil` where there is none.
    ///
    /// Another opening may make the file after it was not found and before the directory is listed, so the error of a file
    /// that is listed is thrown only where it cannot be opened the third time either.
    package func ifThere<Result>(_ name: String, open: () throws -> Result) throws -> Result? {
        var leftCount = 3
        while true {
            do { return try open() } catch {
                leftCount -= 1
                guard try entries().contains(where: { $0.name == name }) else { return nil }
                guard leftCount > 0 else { throw error }
            }
        }
    }
}
