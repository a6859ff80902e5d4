import Foundation
import FoundationNetworking
import Hummingbird

extension URLSession {
    /// What a service answered. Its "no" is passed on to our caller; whatever else it does instead of answering is a bad
    /// gateway to them.
    func value<Value: Decodable>(for request: URLRequest) async throws -> Value {
        guard let (body, response) = try? await data(for: request), let response = response as? HTTPURLResponse else {
            throw HTTPError(.badGateway)
        }
        switch response.statusCode {
        case 200..<300: return try JSONDecoder().decode(Value.self, from: body)
        case 400..<500: throw HTTPError(.init(code: response.statusCode))
        default: throw HTTPError(.badGateway)
        }
    }
}
