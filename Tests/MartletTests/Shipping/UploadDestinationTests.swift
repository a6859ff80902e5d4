import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct UploadDestinationTests {
    private func configuration(
        _ endpoint: String..., token: String? = nil, certificate: String? = nil, adopt: [String] = []
    ) -> MartletConfiguration {
        var configuration = MartletConfiguration()
        configuration.collectors = endpoint.compactMap { URL(string: $0) }
        configuration.token = token
        configuration.clientCertificate = certificate.map { URL(fileURLWithPath: $0) }
        configuration.bufferAdopt = adopt.compactMap { URL(string: $0) }
        return configuration
    }

    private func address(_ recorded: MartletConfiguration, for present: MartletConfiguration) -> String? {
        UploadDestination(recorded).addresses(for: present)?.map(\.absoluteString).joined(separator: ",")
    }

    @Test func batchOfTheSameDestinationUsesTheCurrentConfiguration() {
        let token = configuration("http://user:secret@a:4318/otlp", token: "t")
        #expect(address(token, for: token) == "http://user:secret@a:4318/otlp")
        #expect(address(configuration("http://a:4318"), for: configuration("http://a:4318/")) == "http://a:4318/")
    }

    @Test func batchWithTheSameCredentialsGoesToItsOldAddress() {
        #expect(address(configuration("http://a"), for: configuration("http://b")) == "http://a")
        #expect(
            address(configuration("http://a", token: "t"), for: configuration("http://b", token: "t")) == "http://a")
    }

    @Test func batchBelongsToTheCollectorsItWasRecordedFor() {
        let list = configuration("http://a", "http://b/", token: "t")
        // The order does not matter.
        #expect(address(list, for: configuration("http://b", "http://a", token: "t")) == "http://b,http://a")
        for present in [configuration("http://a", token: "t"), configuration("http://a", "http://c", token: "t")] {
            #expect(address(list, for: present) == "http://a,http://b")
        }
        #expect(address(configuration("http://a", token: "t"), for: list) == "http://a")
        #expect(address(list, for: configuration("http://a", "http://b", token: "u")) == nil)
        #expect(address(configuration("http://u:p@a", "http://b"), for: configuration("http://a", "http://b")) == nil)
    }

    @Test func batchOfSeveralCollectorsIsAdoptedIfAllAreNamed() {
        let list = configuration("http://a", "http://b", token: "t")
        let present = { self.configuration("http://c", "http://d", token: "u", adopt: $0) }
        #expect(address(list, for: present(["http://b", "http://a"])) == "http://c,http://d")
        #expect(address(list, for: present(["http://a"])) == nil)
    }

    @Test func batchRecordedWithOtherCredentialsIsNotSent() {
        let present = configuration("http://a", token: "t")
        for recorded in [
            configuration("http://a"), configuration("http://a", token: "u"), configuration("http://b", token: "u"),
            configuration("http://user@a", token: "t"), configuration("http://a", token: "t", certificate: "/c.pem"),
        ] {
            #expect(address(recorded, for: present) == nil)
            #expect(address(present, for: recorded) == nil)
        }
        // Any header may be a credential.
        var other = present
        other.headers = ["X-Scope-OrgID": "2"]
        #expect(address(other, for: present) == nil)
        #expect(address(other, for: other) == "http://a")
        // User and password are valid only for one address.
        #expect(address(configuration("http://user:p@a"), for: configuration("http://user:p@b")) == nil)
    }

    @Test func adoptedBatchesGoToTheCurrentAddress() {
        let present = configuration("http://b", token: "t", adopt: ["http://c", "http://a/"])
        #expect(address(configuration("http://a", token: "u"), for: present) == "http://b")
        #expect(address(configuration("http://d", token: "u"), for: present) == nil)
        let rotated = configuration("http://a", token: "new", adopt: ["http://a"])
        #expect(address(configuration("http://a", token: "old"), for: rotated) == "http://a")
    }

    @Test func addressAddedToTheFileGetsNoToken() throws {
        let present = configuration("http://a", token: "t")
        let bytes = try JSONEncoder().encode(UploadDestination(present))
        let text = String(decoding: bytes, as: UTF8.self).replacing("http:\\/\\/a", with: "http:\\/\\/b")
        let forged = try JSONDecoder().decode(UploadDestination.self, from: Data(text.utf8))
        #expect(forged.collectors.map(\.absoluteString) == ["http://b"])
        #expect(forged.addresses(for: present) == nil)
    }

    @Test func noCredentialIsWrittenToTheFile() throws {
        var configuration = configuration(
            "https://grace:lovelace@a", token: "s3cret-token", certificate: "/etc/client.pem")
        configuration.headers = ["api-key": "hunter2"]
        let owner = OutboxOwner(TelemetryResource(service: "shop", instance: "i"), configuration)
        let text = String(decoding: try JSONEncoder().encode(owner), as: UTF8.self)
        for secret in ["grace", "lovelace", "s3cret-token", "client.pem", "hunter2"] {
            #expect(!text.contains(secret), "\(text)")
        }
        // Each process makes a different digest of a token.
        #expect(owner.destination != UploadDestination(configuration))
    }

    @Test func ownerFileIsReadBackUnchanged() throws {
        let resource = TelemetryResource(service: "shop", version: "1", instance: "i", host: "h")
        var configuration = MartletConfiguration()
        configuration.endpoints = ["/users/{id}"]
        let owner = OutboxOwner(resource, configuration)
        let bytes = try JSONEncoder().encode(owner)
        #expect(try JSONDecoder().decode(OutboxOwner.self, from: bytes) == owner)
    }
}
