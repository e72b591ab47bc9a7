import RoostIO
import Testing

@Suite struct RoostErrorTests {
    @Test func theDescriptionSaysCodeMessageFileOffsetAndCause() {
        struct Below: Error {}
        let error = RoostError(.corrupt, "broken", file: "/a/b", offset: 12, cause: Below())
        #expect(error.description == "corrupt: broken [/a/b at offset 12] (Below())")
        #expect(RoostError(.closed, "shut").description == "closed: shut")
        #expect(RoostError(.io, "x", file: "f").description == "io: x [f]")
    }
}
