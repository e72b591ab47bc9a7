// What a client of a shared workspace names without importing the library below it.
@_exported import protocol Roost.BinaryCodable
@_exported import enum Roost.DictionaryChange
@_exported import struct Roost.Entry
@_exported import struct Roost.Key
@_exported import protocol Roost.KeyValueDictionary
@_exported import protocol Roost.KeyValueTransaction
@_exported import protocol Roost.KeyValueWorkspace
@_exported import struct Roost.RoostError
