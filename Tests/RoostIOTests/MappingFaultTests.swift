import Foundation
import RoostIO
import RoostTestSupport
import Testing

/// Pages of mapped files that are not there. Each of these tests would end the process without the
/// handler.
@Suite struct MappingFaultTests {
    private let pageSizeBytes = 4096

    private func withFile(
        pageCount: Int, _ body: (any Directory, any File) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            let file = try directory.createFile("f")
            let bytes = (0..<pageCount * pageSizeBytes).map { UInt8($0 / pageSizeBytes + 1) }
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            try body(directory, file)
        }
    }

    @Test func whatWasCutOffReadsAsZerosAndIsAnErrorWithItsPlace() async throws {
        try await withFile(pageCount: 8) { directory, file in
            let region = try #require(try file.map(sizeBytes: 8 * pageSizeBytes, writable: false))
            try region.checkRead()
            try file.truncate(to: UInt64(3 * pageSizeBytes))
            #expect(region.bytes[5 * pageSizeBytes + 7] == 0)
            #expect(MappedRegion.faultCount > 0)
            #expect(region.replacedPageCount == 1)
            #expect(region.firstLostOffset(from: 0, count: .max) == 5 * pageSizeBytes)
            #expect(
                region.firstLostOffset(from: 5 * pageSizeBytes + 9, count: 1)
                    == 5 * pageSizeBytes + 9)
            #expect(region.firstLostOffset(from: 0, count: 5 * pageSizeBytes) == nil)
            #expect(region.firstLostOffset(from: 6 * pageSizeBytes, count: .max) == nil)
            let error = try #require(region.readFailure())
            #expect(error.code == .io)
            #expect(error.file == file.path)
            #expect(error.offset == UInt64(5 * pageSizeBytes))
            // The rest is as it was.
            #expect(region.bytes[2 * pageSizeBytes] == 3)
            try region.checkRead(from: 0, count: 3 * pageSizeBytes)
        }
    }

    @Test func whatIsStoredIntoAPageThatIsNotThereStaysForItsReaders() async throws {
        try await withFile(pageCount: 4) { directory, file in
            let region = try #require(try file.map(sizeBytes: 4 * pageSizeBytes, writable: true))
            try file.truncate(to: UInt64(pageSizeBytes))
            region.base.storeBytes(of: 9, toByteOffset: 2 * pageSizeBytes, as: UInt8.self)
            #expect(region.replacedPageCount == 1)
            #expect(region.firstLostOffset(from: 0, count: .max) == 2 * pageSizeBytes)
            // What was stored is there for who reads here, and nowhere else; it stays when the
            // kernel is told that the mapping is not needed for now.
            region.dropPages()
            #expect(region.bytes[2 * pageSizeBytes] == 9)
            #expect(try file.sizeBytes() == UInt64(pageSizeBytes))
        }
    }

    #if os(Linux)
        /// A process may have so many mappings, 65,530 as a rule, and ended at the next lost page: four files of 64 MiB that
        /// somebody had cut were enough.
        @Test(arguments: [true, false])
        func lostPagesThatLieNextToEachOtherAreOneMapping(writable: Bool) async throws {
            let pageCount = 4096
            try await withTemporaryDirectory { path in
                let directory = try PosixFileSystem().openDirectory(at: path, create: false)
                for step in [1, 2, 7] {
                    let file = try directory.createFile("f\(step)")
                    try file.truncate(to: UInt64(pageCount * pageSizeBytes))
                    let region = try #require(
                        try file.map(sizeBytes: pageCount * pageSizeBytes, writable: writable))
                    try file.truncate(to: UInt64(100 * pageSizeBytes))
                    for page in stride(from: 0, to: pageCount, by: step) {
                        #expect(region.bytes[page * pageSizeBytes] == 0)
                    }
                    let count = try mappingCount(in: region)
                    #expect(count > 0 && count < 400, "every \(step) pages")
                    #expect(
                        region.firstLostOffset(from: 0, count: .max).map { $0 / pageSizeBytes }
                            == (100 + step - 1) / step * step)
                    try region.checkRead(from: 0, count: 100 * pageSizeBytes)
                }
            }
        }

        /// How many mappings the region's memory is made of.
        private func mappingCount(in region: MappedRegion) throws -> Int {
            let begin = UInt(bitPattern: region.base)
            // Its size reads as zero, so it is read to its end.
            let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
            let text = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
            return text.split(separator: "\n").count { line in
                let first = line.prefix { $0 != "-" }
                guard let address = UInt(first, radix: 16) else { return false }
                return address >= begin && address < begin + UInt(region.sizeBytes)
            }
        }
    #endif

    @Test func aMappingThatComesToTheSameAddressBeginsWithoutFaults() async throws {
        for _ in 0..<100 {
            try await withFile(pageCount: 4) { directory, file in
                let region = try #require(
                    try file.map(sizeBytes: 4 * pageSizeBytes, writable: false))
                #expect(region.replacedPageCount == 0)
                #expect(region.firstLostOffset(from: 0, count: .max) == nil)
                try file.truncate(to: 0)
                #expect(region.bytes[0] == 0)
                #expect(region.firstLostOffset(from: 0, count: .max) == 0)
            }
        }
    }

    @Test func manyThreadsThatMeetTheSamePagesAllGoOn() async throws {
        try await withFile(pageCount: 64) { directory, file in
            let region = try #require(try file.map(sizeBytes: 64 * pageSizeBytes, writable: false))
            try file.truncate(to: 0)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for page in 0..<64 { #expect(region.bytes[page * pageSizeBytes] == 0) }
            }
            for page in 0..<64 {
                let offset = page * pageSizeBytes
                #expect(region.firstLostOffset(from: offset, count: 1) == offset)
            }
        }
    }

    @Test func withoutTheHandlerARegionKnowsOfNoFaults() async throws {
        try await withTemporaryDirectory { path in
            let directory = try PosixFileSystem(handlesFaults: false)
                .openDirectory(at: path, create: false)
            let file = try directory.createFile("f")
            try [UInt8]([1, 2, 3]).withUnsafeBytes { try file.write($0, at: 0) }
            let region = try #require(try file.map(sizeBytes: 3, writable: false))
            #expect(region.bytes.elementsEqual([1, 2, 3]))
            #expect(region.replacedPageCount == 0)
        }
    }
}
