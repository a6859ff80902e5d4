import Foundation
import MartletTelemetry

/// Who recorded what is in an outbox: the journal does not tell, and its instance may be dead when it is read.
extension Outbox {
    func keep(_ resource: TelemetryResource) throws {
        let bytes = try JSONEncoder().encode(resource)
        try WholeFile.replace(path(Self.resourceFileName), with: Array(bytes), in: directory.path)
    }

    /// `nil` where it was not kept, or cannot be read.
    var resource: TelemetryResource? {
        FileManager.default.contents(atPath: path(Self.resourceFileName))
            .flatMap { try? JSONDecoder().decode(TelemetryResource.self, from: $0) }
    }
}
