// What encryption costs: puts of 100 bytes at process durability, and first reads after an opening, of a plain
// workspace and encrypted ones in turn, one for each cipher that is built in; medians of some rounds.
//
//     swift run -c release --package-path Extras encryption-cost [KEYS] [ROUNDS]

import Crypto
import Foundation
import Roost
@_spi(Sealing) import RoostEncryption

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let keyCount = arguments.first ?? 100_000
let roundCount = arguments.count > 1 ? arguments[1] : 5
let key = SymmetricKey(size: .bits256)

/// Half of it random, half repeated.
func value(_ number: Int) -> [UInt8] {
    var random = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
    return (0..<100).map { index in
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return index < 50 ? UInt8(truncatingIfNeeded: random >> 56) : 7
    }
}

struct Figures {
    var put = 0.0
    var firstRead = 0.0
    var read = 0.0
}

/// Nanoseconds each.
func measure(_ encryption: WorkspaceEncryption?, _ path: String) async throws -> Figures {
    let configuration = Workspace.Configuration(
        durability: .process, memoryBudgetBytes: 0, encryption: encryption)
    var figures = Figures()
    let keys = (0..<keyCount).map { "key \(100_000_000 + $0)" }
    let values = (0..<keyCount).map(value)
    let clock = ContinuousClock()
    var workspace = try await Workspace.open(at: path, configuration: configuration)
    var dictionary = workspace.dictionary("d")
    let puts = try await clock.measure {
        for number in 0..<keyCount {
            try await dictionary.set(values[number], forKey: keys[number])
        }
    }
    try await workspace.compact()
    try await workspace.close()
    workspace = try await Workspace.open(at: path, configuration: configuration)
    dictionary = workspace.dictionary("d")
    let order = (0..<keyCount / 5).map { ($0 &* 7_919) % keyCount }
    var sum = 0
    for pass in 0..<2 {
        let reads = try clock.measure {
            for number in order {
                sum += try dictionary.value(forKey: keys[number], as: [UInt8].self)?.count ?? 0
            }
        }
        let time = reads / .nanoseconds(order.count)
        if pass == 0 { figures.firstRead = time } else { figures.read = time }
    }
    precondition(sum == 200 * order.count, "a value is missing")
    try await workspace.close()
    figures.put = puts / .nanoseconds(keyCount)
    return figures
}

let place = FileManager.default.temporaryDirectory
    .appendingPathComponent("roost-encryption-cost-\(UUID())").path
defer { try? FileManager.default.removeItem(atPath: place) }
var plain: [Figures] = []
var sealed = [[Figures]](repeating: [], count: SealingKind.allCases.count)
for round in 0..<roundCount {
    plain.append(try await measure(nil, "\(place)/plain-\(round)"))
    for (index, kind) in SealingKind.allCases.enumerated() {
        let path = "\(place)/\(kind)-\(round)"
        sealed[index].append(try await measure(.key(key, by: kind), path))
    }
    try FileManager.default.removeItem(atPath: place)
}
for (name, path) in [
    ("put", \Figures.put), ("first read", \.firstRead), ("read again", \.read),
] {
    func median(_ figures: [Figures]) -> Double {
        figures.map { $0[keyPath: path] }.sorted()[figures.count / 2]
    }
    let one = median(plain)
    let others = zip(SealingKind.allCases, sealed).map { kind, figures in
        let other = median(figures)
        return "\(kind) \(Int(other)) ns, \((other / one * 100).rounded() / 100) times"
    }
    print("\(name): plain \(Int(one)) ns; \(others.joined(separator: "; "))")
}
