import Roost
import RoostTestSupport
import Testing

// What the oracle changes, in the store and in its model.

extension QueryOracle {
    /// Whether another object has the value that is to be unique.
    func isTaken(_ sample: Sample<Form>, in model: [Int: Sample<Form>]) -> Bool {
        model.values.contains { $0.id != sample.id && $0.serial == sample.serial }
    }

    func change(
        _ samples: Repository<Sample<Form>>, _ keepsUnique: Bool,
        _ model: inout [Int: Sample<Form>], _ random: inout SeededGenerator
    ) async throws {
        for _ in 0..<random.below(60) {
            let id = random.below(90)
            var sample: Sample<Form> = random.sample(id: id)
            let isTaken = keepsUnique && isTaken(sample, in: model)
            switch random.below(20) {
            case 0..<8:
                let code = try await failure { try await samples.save(sample) }
                #expect(code == (isTaken ? .notUnique : nil))
                if !isTaken { model[id] = sample }
            case 8..<11:
                let code = try await failure { try await samples.insert(sample) }
                #expect(
                    code == (model[id] != nil ? .alreadyExists : isTaken ? .notUnique : nil))
                if model[id] == nil, !isTaken { model[id] = sample }
            case 11..<14:
                let found = try await samples.update(id) { old in
                    old.text = sample.text
                    old.number = sample.number
                    old.tags = sample.tags
                    old.quota = sample.quota
                    return true
                }
                #expect((found == nil) == (model[id] == nil))
                model[id]?.text = sample.text
                model[id]?.number = sample.number
                model[id]?.tags = sample.tags
                model[id]?.quota = sample.quota
            case 14..<16:
                try await samples.delete(id)
                model[id] = nil
            case 16:
                // Round the repository, which keeps nothing unique there.
                sample.serial = .nan
                try await samples.dictionary.set(sample, forKey: samples.key(of: id))
                model[id] = sample
            case 17 where random.once(in: 4):
                try await samples.dictionary.removeAll()
                model = [:]
            case 18:
                let paired: PairedCondition<Form> = random.condition()
                let count = try await samples.where(paired.condition).deleteAll()
                let gone = model.values.filter(paired.matches)
                #expect(count == gone.count)
                for sample in gone { model[sample.id] = nil }
            default: try await saveAll(samples, keepsUnique, &model, &random)
            }
        }
    }

    /// All of them or none, by what they end with.
    private func saveAll(
        _ samples: Repository<Sample<Form>>, _ keepsUnique: Bool,
        _ model: inout [Int: Sample<Form>], _ random: inout SeededGenerator
    ) async throws {
        let more: [Sample<Form>] = (0..<random.below(12)).map { _ in
            random.sample(id: random.below(90))
        }
        var copy = model
        for sample in more { copy[sample.id] = sample }
        let isTaken =
            keepsUnique
            && more.contains { sample in copy[sample.id].map { self.isTaken($0, in: copy) } ?? false
            }
        let code = try await failure { try await samples.saveAll(more) }
        #expect(code == (isTaken ? .notUnique : nil))
        if !isTaken { model = copy }
    }

    /// What is wrong with a change, where that may be.
    private func failure(_ body: () async throws -> Void) async throws -> RoostError.Code? {
        do {
            try await body()
            return nil
        } catch let error as RoostError
            where error.code == .alreadyExists || error.code == .notUnique
        { return error.code }
    }
}
