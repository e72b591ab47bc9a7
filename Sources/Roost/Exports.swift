// What a client of Roost names without importing the targets below it.
@_exported import protocol RoostCoding.BinaryCodable
@_exported import struct RoostCoding.BinaryReader
@_exported import enum RoostCoding.BinaryShape
@_exported import struct RoostCoding.BinaryWriter
@_exported import struct RoostCoding.StoredField
@_exported import protocol RoostCoding.StoredFields
@_exported import struct RoostEngine.BackupReport
@_exported import enum RoostEngine.Durability
@_exported import struct RoostEngine.FollowingStatus
@_exported import struct RoostEngine.ObservedCompaction
@_exported import struct RoostEngine.ObservedOperation
@_exported import protocol RoostEngine.ObservedSpan
@_exported import struct RoostEngine.RecoveryReport
@_exported import struct RoostEngine.SalvageReport
@_exported import struct RoostEngine.VerificationProgress
@_exported import struct RoostEngine.VerificationReport
@_exported import protocol RoostEngine.WorkspaceObserver
@_exported import struct RoostEngine.WorkspaceStatistics
@_exported import enum RoostFormat.ScanOrder
@_exported import struct RoostIO.RoostError

#if canImport(System)
    @_exported import struct System.FilePath
#else
    @_exported import struct SystemPackage.FilePath
#endif
