// What a client of a shared workspace names without importing the library below it.
@_exported import protocol Roost.BinaryCodable
@_exported import struct Roost.Condition
@_exported import protocol Roost.ConditionConvertible
@_exported import enum Roost.DictionaryChange
@_exported import struct Roost.Entry
@_exported import struct Roost.Field
@_exported import struct Roost.Index
@_exported import protocol Roost.IndexRepresentable
@_exported import protocol Roost.Indexed
@_exported import struct Roost.Key
@_exported import protocol Roost.KeyRepresentable
@_exported import protocol Roost.KeyValueDictionary
@_exported import protocol Roost.KeyValueTransaction
@_exported import protocol Roost.KeyValueWorkspace
@_exported import struct Roost.NotUnique
@_exported import struct Roost.RoostError
@_exported import struct Roost.Row
