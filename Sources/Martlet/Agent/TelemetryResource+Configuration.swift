import Foundation
import MartletOTLP
import MartletTelemetry

extension TelemetryResource {
    /// The resource of this process: the settings win over the facts that the process finds itself.
    init(_ configuration: MartletConfiguration, instance: String = UUID().uuidString.lowercased()) {
        let process = ProcessInfo.processInfo
        let set = configuration.resourceAttributes
        let all = ResourceDetection.attributes(environment: process.environment).merging(set) { $1 }
        self.init(
            service: configuration.serviceName, version: configuration.serviceVersion,
            environment: configuration.environment, instance: instance,
            host: all[AttributeName.hostName] ?? process.hostName, processID: Int64(process.processIdentifier),
            runtime: "swift " + ResourceDetection.swiftVersion,
            attributes: Self.further(all))
    }

    /// Returns the attributes that have no property of their own, within the limits.
    private static func further(_ all: [String: String]) -> [String: String] {
        let further = all.filter { name, value in
            !AttributeName.ofResource.contains(name) && !name.isEmpty && !value.isEmpty
                && name.utf8.count <= MartletLimits.attributeName
        }
        let kept = further.sorted { $0.key < $1.key }.prefix(MartletLimits.resourceAttributes)
        return Dictionary(
            uniqueKeysWithValues: kept.map { ($0.key, $0.value.cut(toBytes: MartletLimits.attributeText)) })
    }
}
