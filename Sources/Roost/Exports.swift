// What a client of Roost names without importing the targets below it.
@_exported import protocol RoostCoding.BinaryCodable
@_exported import struct RoostCoding.BinaryReader
@_exported import enum RoostCoding.BinaryShape
@_exported import struct RoostCoding.BinaryWriter
@_exported import enum RoostEngine.Durability
@_exported import struct RoostEngine.RecoveryReport
@_exported import struct RoostEngine.SalvageReport
@_exported import struct RoostEngine.VerificationReport
@_exported import struct RoostEngine.WorkspaceStatistics
@_exported import struct RoostIO.RoostError
@_exported import enum RoostSnapshot.ScanOrder

#if canImport(System)
    @_exported import struct System.FilePath
#else
    @_exported import struct SystemPackage.FilePath
#endif
