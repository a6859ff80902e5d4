import Foundation
import FoundationNetworking
import MartletTelemetry
import Testing

@testable import Martlet

/// The attributes that identify an agent's process, container and pod.
@Suite struct ResourceDetectionTests {
    private static let id = String(repeating: "0123456789abcdef", count: 4)
    private static let pod = "6f1c0a9e-8a43-4a8e-9b0c-2f6a3c1d7e55"

    @Test(arguments: [
        "12:pids:/docker/\(id)\n0::/\n",
        "0::/system.slice/docker-\(id).scope\n",
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod6f1c0a9e.slice/cri-containerd-\(id).scope\n",
        "4:memory:/kubepods/burstable/pod\(pod)/\(id)\n",
    ])
    func containerIsFoundInTheControlGroups(cgroup: String) {
        #expect(ContainerMounts(cgroup: cgroup, mountinfo: "").containerID == Self.id)
    }

    @Test(arguments: [
        "701 650 254:1 /var/lib/docker/containers/\(id)/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw",
        "88 7 0:25 /containers/storage/overlay-containers/\(id)/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw",
    ])
    func containerIsFoundInTheMounts(line: String) {
        let mountinfo = "1 2 0:3 / / rw - overlay overlay rw\n\(line)\n"
        #expect(ContainerMounts(cgroup: "0::/\n", mountinfo: mountinfo).containerID == Self.id)
    }

    @Test func podIsFoundInTheMountOfItsHosts() {
        let line = "90 80 8:1 /var/lib/kubelet/pods/\(Self.pod)/etc-hosts /etc/hosts rw,relatime - ext4 /dev/sda1 rw"
        #expect(ContainerMounts(cgroup: "0::/", mountinfo: line).podUID == Self.pod)
        #expect(ContainerMounts(cgroup: "0::/", mountinfo: line).containerID == nil)
    }

    @Test(arguments: ["", "0::/", "0::/user.slice/user-1000.slice/session-3.scope", "::::", "1:name=\n\n/", "0::/-"])
    func hostOrBrokenTablesShowNoContainer(text: String) {
        for mounts in [ContainerMounts(cgroup: text, mountinfo: ""), ContainerMounts(cgroup: "", mountinfo: text)] {
            #expect(mounts.containerID == nil && mounts.podUID == nil)
        }
    }

    @Test func podVariablesCountOnlyInAPod() {
        let variables = ["POD_NAME": "checkout-7d9", "K8S_NODE_NAME": "node-4", "NODE_NAME": "other", "POD_UID": ""]
        let read = { (path: String) in path.hasSuffix("/namespace") ? "shop\n" : nil }
        let outside = ResourceDetection.attributes(environment: variables, read: read)
        #expect(outside.keys.sorted() == ["host.arch", "os.type", "process.executable.name"])
        let inside = ResourceDetection.attributes(
            environment: variables.merging(["KUBERNETES_SERVICE_HOST": "10.0.0.1"]) { $1 }, read: read)
        let pod = inside.filter { $0.key.hasPrefix("k8s.") }
        #expect(
            pod == ["k8s.pod.name": "checkout-7d9", "k8s.node.name": "node-4", "k8s.namespace.name": "shop"])
    }

    @Test func settingsTakePrecedenceWithinTheirLimits() {
        var configuration = MartletConfiguration()
        configuration.serviceName = "shop"
        configuration.resourceAttributes = [
            "host.name": "rack-7", "os.type": "plan9", "service.name": "ignored", "process.pid": "1", "": "x",
            "team": "",
            "long": String(repeating: "é", count: 2000), String(repeating: "n", count: 257): "x",
        ]
        let resource = TelemetryResource(configuration)
        #expect((resource.service, resource.host) == ("shop", "rack-7"))
        #expect(resource.processID == Int64(ProcessInfo.processInfo.processIdentifier))
        #expect(resource.attributes["os.type"] == "plan9")
        #expect(resource.attributes["long"]?.utf8.count == 2048)
        #expect(
            resource.attributes.keys.sorted().filter { !$0.hasPrefix("container.") } == [
                "host.arch", "long", "os.type", "process.executable.name",
            ])
        for number in 0..<100 { configuration.resourceAttributes["a\(number)"] = "x" }
        #expect(TelemetryResource(configuration).attributes.count == 64)
    }
}

extension AgentTests {
    @Suite struct ResourceTests {
        @Test func eachBatchHasTheAttributesOfTheProcess() async throws {
            try await withAgent({ $0.resourceAttributes = ["team": "blue"] }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/there")
                await agent.flush()
                let resource = try #require(try collector.resources().first)
                #expect(resource["team"] == "blue")
                #expect(resource["os.type"] == "linux")
                #expect(resource.keys.contains("process.pid"))
            }
        }
    }
}
