// A service that forks and executes no other program, in the ways in which services do it.
//
//     ForkProgram --scene NAME --server URL --life NAME --ended FOLDER --requests N
import Foundation
import Martlet

let arguments = CommandLine.arguments
func value(_ name: String) -> String? {
    arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
}
guard let scene = value("--scene").flatMap(ForkScene.init(rawValue:)),
    let server = value("--server").flatMap(URL.init(string:)), let ended = value("--ended"),
    let life = value("--life"), let requests = value("--requests").flatMap(Int.init)
else {
    FileHandle.standardError.write(Data("ForkProgram: the arguments are not understood\n".utf8))
    exit(64)
}

let load = Load(server: server, ended: URL(fileURLWithPath: ended), life: life)
print(try scene.play(load, requests))
