import MartletOTLP
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletIntake

@Suite struct StreamIdentityTests {
    /// Stores keep stream IDs, so an ID must never change.
    @Test func streamOfAScopeWithoutAttributesKeepsItsID() throws {
        var scope = OTLPInstrumentationScope()
        (scope.name, scope.version) = ("instrument", "1.2")
        let attributes = [OTLPKeyValue("b", "2"), OTLPKeyValue("a", Int64(1))]
        let id = StreamID(scope).adding(metric: "http.server.request.duration").adding(attributes)
        #expect(id.bytes == [131, 86, 119, 48, 179, 57, 71, 88, 125, 123, 16, 30, 87, 254, 247, 249])
    }
}
