import ArgumentParser

/// Refuses an address where only a path is taken. Taken for a path, it would become directories where the command
/// runs, and the command would say that all is well.
///
/// - Throws: `ValidationError`, which names the scheme alone: a password may stand after it.
func refuseAddress(_ text: String) throws {
    guard let scheme = text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//)?.output else { return }
    throw ValidationError(
        "an address, \(scheme)…, stands where only a path is taken: restore and backups read s3:// and file://, copy reads "
            + "from and writes to etcd://, etcds:// and postgres://; a path of this form is ./\(scheme)…"
    )
}
