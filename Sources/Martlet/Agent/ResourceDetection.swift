import Foundation

/// The attributes of the resource that a process finds out by itself (semantic conventions, "Resource"): its system, its
/// executable, its container and its pod. It reads variables and a few small files, and asks no network.
enum ResourceDetection {
    /// The variables that manifests commonly fill by the Kubernetes downward API, the preferred one first.
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

    /// The version of the compiler. Foundation comes with it on Linux, and only the two first numbers can be known.
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
