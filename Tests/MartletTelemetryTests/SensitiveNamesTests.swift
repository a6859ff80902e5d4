import MartletTelemetry
import Testing

/// Names of real header fields, form parameters and JSON keys.
@Suite struct SensitiveNamesTests {
    /// Fields that carry a secret.
    private static let sensitive = """
        Authorization Proxy-Authorization Authentication Authentication-Info WWW-Authenticate Proxy-Authenticate Cookie
        Set-Cookie X-Api-Key Api-Key apikey X-Auth-Token X-Auth-Key X-Access-Token X-CSRF-Token X-CSRFToken X-XSRF-TOKEN
        CSRF-Token Ocp-Apim-Subscription-Key x-functions-key DD-API-KEY DD-APPLICATION-KEY Fastly-Key X-Honeycomb-Team
        X-Sentry-Auth X-Amz-Security-Token X-Amz-Signature AWSAccessKeyId X-Goog-Signature X-Goog-Api-Key
        X-Vault-Token X-Consul-Token PRIVATE-TOKEN JOB-TOKEN X-Gitlab-Token X-Hub-Signature X-Hub-Signature-256
        X-Slack-Signature Stripe-Signature X-Shopify-Access-Token X-Shopify-Hmac-Sha256-Secret X-Twilio-Signature
        X-Algolia-API-Key X-Elastic-Api-Key X-MBX-APIKEY CB-ACCESS-KEY CB-ACCESS-SIGN-SECRET X-RapidAPI-Key
        X-Parse-REST-API-Key X-Parse-Master-Key X-Parse-Session-Token X-Mashape-Key X-Postmark-Server-Token
        X-Figma-Token X-Discord-Signature X-Plex-Token X-Emby-Token X-TrackerToken X-Papertrail-Token X-Riot-Token
        X-NewRelic-License-Key Api-Secret X-Client-Secret X-Session-Id X-Auth X-Forwarded-Client-Cert DPoP Sec-Token-Binding-Token
        password passwd passphrase user_password old-password client_secret access_token refresh_token id_token
        device_code code_verifier client_assertion SAMLResponse secretKey privateKey private_key encryption_key
        AccountKey SharedAccessKey secondaryKey auth_code SharedAccessSignature StorageKey master_key signing_key licenseKey serviceAccountKey
        connection_auth basic_auth session_key sessionToken pin otp totp cvv ssn jwt sid sig nonce pwd
        """.split { $0.isWhitespace }.map(String.init)

    /// Fields without a secret, which people look for.
    private static let harmless = """
        Accept Accept-Encoding Accept-Language Age Allow Cache-Control Content-Type Content-Length Content-Encoding Date
        ETag Expires Host If-Match If-None-Match Last-Modified Link Location Origin Referer Retry-After Server
        Transfer-Encoding Upgrade User-Agent Vary Via X-Request-Id X-Correlation-Id X-Forwarded-For X-Forwarded-Proto
        Idempotency-Key Surrogate-Key Sec-WebSocket-Key Sec-WebSocket-Version Cache-Key routing_key partitionKey PartitionKey
        RowKey primary_key foreignKey sort_key groupKey objectKey messageKey publicKey public_key hotkey monkey Turkey
        NSErrorFailingURLKey NSErrorFailingURLStringKey NSUnderlyingErrorKey _kCFStreamErrorDomainKey _kCFStreamErrorCodeKey
        key keys value name code state status error message id count author authority keyboard keyword keynote
        """.split { $0.isWhitespace }.map(String.init)

    private func isSensitive(_ name: String) -> Bool { SensitiveNames().contains(Array(name.utf8)[...]) }

    @Test func fieldsWithSecretsAreSensitive() {
        #expect(Self.sensitive.count + Self.harmless.count >= 120)
        #expect(Self.sensitive.filter { !isSensitive($0) } == [])
    }

    @Test func fieldsWithoutSecretsKeepTheirValues() {
        #expect(Self.harmless.filter(isSensitive) == [])
    }
}
