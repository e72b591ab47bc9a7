// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Roost
import RoostMacros

enum api_binary {
    @BinaryCodable struct Draft: Equatable { @Field(1) var title: String; @Field(2) var body: String; @Field(3) var tags: [String] = [] }
}
