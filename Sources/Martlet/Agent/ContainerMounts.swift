/// The container of a process and its pod, as the kernel's tables of control groups and mounts show them to the process.
struct ContainerMounts {
    /// 64 hexadecimal digits; `nil` outside a container.
    let containerID: String?
    /// `nil` outside a pod.
    let podUID: String?

    /// - Parameters:
    ///   - cgroup: the text of `/proc/self/cgroup`. Version 1 has the container's path there.
    ///   - mountinfo: the text of `/proc/self/mountinfo`. With version 2 it alone tells the container: its engine mounts files
    ///     of its own over `/etc/hostname` and `/etc/hosts`.
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

    /// Returns the uid in the path that the kubelet gives to `/etc/hosts`: `…/pods/<uid>/etc-hosts`.
    private static func podUID(ofMount path: [Substring]) -> String? {
        guard path.count >= 3, path.last == "etc-hosts", path[path.count - 3] == "pods" else { return nil }
        return String(path[path.count - 2])
    }

    private static func isContainerID(_ text: Substring) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { $0.hexadecimalValue != nil }
    }
}
