import Foundation
import FoundationNetworking
import Hummingbird

extension URLSession {
    /// Returns the decoded answer of a service. Throws its status if that is a 4xx, a bad gateway if the service failed or did
    /// not answer, and a decoding error if the body cannot be decoded.
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
