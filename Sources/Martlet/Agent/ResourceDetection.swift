import Foundation
import MartletOTLP
import MartletTelemetry

/// Detects the attributes of the resource (semantic conventions, "Resource"): the process's system, executable,
/// container and pod. It reads variables and a few small files, and makes no network request.
enum ResourceDetection {
    /// The variables that manifests commonly fill from the Kubernetes downward API, the preferred one first.
    private static let variables = [
        "k8s.pod.name": ["K8S_POD_NAME", "POD_NAME"], "k8s.pod.uid": ["K8S_POD_UID", "POD_UID"],
        "k8s.namespace.name": ["K8S_NAMESPACE_NAME", "POD_NAMESPACE"],
        "k8s.node.name": ["K8S_NODE_NAME", "NODE_NAME"],
        "k8s.container.name": ["K8S_CONTAINER_NAME"], "k8s.cluster.name": ["K8S_CLUSTER_NAME"],
    ]
    private static let namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
    /// Bytes of a file that are read: a host may have thousands of mounts.
    private static let fileBytes = 256 << 10

    /// - Parameter read: returns the text of a file; `nil` if it cannot be read.
    static func attributes(
        environment: [String: String], read: (String) -> String? = ResourceDetection.text
    ) -> [String: String] {
        var found = ["os.type": osType, "host.arch": architecture]
        found["process.executable.name"] = ProcessInfo.processInfo.processName
        let container = ContainerMounts(
            cgroup: read("/proc/self/cgroup") ?? "", mountinfo: read("/proc/self/mountinfo") ?? "")
        found["container.id"] = container.containerID
        guard environment["KUBERNETES_SERVICE_HOST"]?.isEmpty == false else { return found }
        found["k8s.pod.uid"] = container.podUID
        found["k8s.namespace.name"] = read(namespaceFile)?.trimmingCharacters(in: .whitespacesAndNewlines)
        for (name, variables) in variables {
            guard let value = variables.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
                continue
            }
            found[name] = value
        }
        return found
    }

    private static func text(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.read(upToCount: fileBytes) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The version of the compiler, with which Foundation comes on Linux. Only its first two numbers can be determined.
    static var swiftVersion: String {
        #if compiler(>=6.5)
        "6.5"
        #elseif compiler(>=6.4)
        "6.4"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }

    private static var osType: String {
        #if os(Linux)
        "linux"
        #else
        "darwin"
        #endif
    }

    private static var architecture: String {
        #if arch(x86_64)
        "amd64"
        #elseif arch(arm64)
        "arm64"
        #else
        "other"
        #endif
    }
}

/// The container of a process and its pod, as the kernel's tables of control groups and mounts show them to the process.
struct ContainerMounts {
    /// 64 hexadecimal digits; `nil` outside a container.
    let containerID: String?
    /// `nil` outside a pod.
    let podUID: String?

    /// - Parameters:
    ///   - cgroup: the text of `/proc/self/cgroup`. With control groups version 1, it has the container's path.
    ///   - mountinfo: the text of `/proc/self/mountinfo`. With control groups version 2, only this text identifies the
    ///     container, whose engine mounts files over `/etc/hostname` and `/etc/hosts`.
    init(cgroup: String, mountinfo: String) {
        let groups = cgroup.split(separator: "\n").compactMap { $0.split(separator: ":", maxSplits: 2).last }
            .map { $0.split(separator: "/") }
        // The fields are ids and a device, the path in the mounted file system, and the path where it is mounted.
        let mounts = mountinfo.split(separator: "\n").map { $0.split(separator: " ") }
            .filter { $0.count > 4 && ["/etc/hostname", "/etc/hosts"].contains($0[4]) }
            .map { $0[3].split(separator: "/") }
        containerID =
            groups.lazy.compactMap { $0.last.flatMap(Self.containerID) }.first
            ?? mounts.lazy.compactMap(Self.containerID(ofMount:)).first
        podUID = mounts.lazy.compactMap(Self.podUID).first
    }

    /// Returns the id in the last part of a control group: `<id>`, `docker-<id>.scope`, `cri-containerd-<id>.scope`.
    private static func containerID(_ group: Substring) -> String? {
        let name = group.hasSuffix(".scope") ? group.dropLast(".scope".count) : group
        guard let id = name.split(separator: "-").last, isContainerID(id) else { return nil }
        return String(id)
    }

    /// Returns the id in the path of a mounted file: `…/containers/<id>/hostname`, `…/overlay-containers/<id>/userdata/hosts`.
    private static func containerID(ofMount path: [Substring]) -> String? {
        zip(path, path.dropFirst()).first { $0.hasSuffix("containers") && isContainerID($1) }.map { String($1) }
    }

    /// Returns the uid in the path from which the kubelet mounts `/etc/hosts`: `…/pods/<uid>/etc-hosts`.
    private static func podUID(ofMount path: [Substring]) -> String? {
        guard path.count >= 3, path.last == "etc-hosts", path[path.count - 3] == "pods" else { return nil }
        return String(path[path.count - 2])
    }

    private static func isContainerID(_ text: Substring) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { $0.hexadecimalValue != nil }
    }
}

extension TelemetryResource {
    /// The resource of this process. Settings take precedence over detected values.
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

    /// Returns the attributes that have no separate property, within the limits.
    private static func further(_ all: [String: String]) -> [String: String] {
        let further = all.filter { name, value in
            !AttributeName.resourceNames.contains(name) && !name.isEmpty && !value.isEmpty
                && name.utf8.count <= MartletLimits.attributeName
        }
        let kept = further.sorted { $0.key < $1.key }.prefix(MartletLimits.resourceAttributes)
        return Dictionary(
            uniqueKeysWithValues: kept.map { ($0.key, $0.value.cut(toBytes: MartletLimits.attributeText)) })
    }
}
