/// Decides, one question after another, what a crash leaves. The same answers give the same
/// state.
package protocol CrashChoices {
    /// A number below `count`; of two, 0 is "lost" and 1 "kept".
    mutating func pick(_ count: Int) -> Int
    /// How many of a dirty sector's bytes reached the disk, from its begin.
    mutating func pickKeptBytes(ofSector sizeBytes: Int) -> Int
    /// What the answers led to is counted here, where anybody wants to know.
    var effects: CrashEffects { get set }
}

extension CrashChoices {
    package var effects: CrashEffects {
        get { CrashEffects() }
        set {}
    }
}

/// Random answers, with a leaning that differs from crash to crash: where every sector had an
/// even chance, nearly all crashes would look alike.
package struct RandomChoices: CrashChoices {
    package var random: SimulationRandom
    package var effects = CrashEffects()
    private let keptPercent: Int
    private let tornPercent: Int

    package init(seed: UInt64) {
        random = SimulationRandom(seed: seed)
        keptPercent = [0, 5, 30, 50, 70, 95, 100][random.below(7)]
        tornPercent = [0, 0, 5, 30][random.below(4)]
    }

    package mutating func pick(_ count: Int) -> Int {
        guard count > 1 else { return 0 }
        if count > 2 { return random.below(count) }
        return random.below(100) < keptPercent ? 1 : 0
    }

    package mutating func pickKeptBytes(ofSector sizeBytes: Int) -> Int {
        if random.below(100) < tornPercent { return random.below(sizeBytes + 1) }
        return pick(2) == 1 ? sizeBytes : 0
    }
}

/// Steps through all combinations of answers, the last question's answer changing fastest.
package struct EnumeratedChoices: CrashChoices {
    private var answers: [Int] = []
    private var counts: [Int] = []
    private var position = 0

    package init() {}

    package mutating func pick(_ count: Int) -> Int {
        guard count > 1 else { return 0 }
        if position == answers.count {
            answers.append(0)
            counts.append(count)
        }
        defer { position += 1 }
        return answers[position]
    }

    package mutating func pickKeptBytes(ofSector sizeBytes: Int) -> Int {
        pick(2) == 1 ? sizeBytes : 0
    }

    /// Turns to the next combination; `false` after the last.
    package mutating func advance() -> Bool {
        answers.removeSubrange(position...)
        counts.removeSubrange(position...)
        position = 0
        while let last = answers.indices.last {
            if answers[last] + 1 < counts[last] {
                answers[last] += 1
                return true
            }
            answers.removeLast()
            counts.removeLast()
        }
        return false
    }
}
