/// What a power cut did to what was not synced, in numbers.
package struct CrashEffects: Sendable {
    /// Sectors that hold their old bytes.
    package var lostSectors = 0
    /// Sectors that hold new bytes up to one byte and old ones after it.
    package var tornSectors = 0
    /// Files of which a later sector reached the disk and an earlier one did not.
    package var reorderedFiles = 0
    /// Creations, renames and removals that did not reach the disk.
    package var vanishedEntries = 0
    /// Files that have an earlier size than their last.
    package var lostSizes = 0

    package init() {}

    package var byName: [String: Int] {
        [
            "lostSectors": lostSectors, "tornSectors": tornSectors,
            "reorderedFiles": reorderedFiles, "vanishedEntries": vanishedEntries,
            "lostSizes": lostSizes,
        ]
    }
}
