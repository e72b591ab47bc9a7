import Foundation
import Roost
import Testing

@testable import RoostReplica

/// The examples of Amazon's documentation of signatures.
struct S3SignatureTests {
    private let signature = S3Signature(
        credentials: S3Credentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")
    /// 2013-05-24T00:00:00Z
    private let date = Date(timeIntervalSince1970: 1_369_353_600)
    private let host = "examplebucket.s3.amazonaws.com"
    private let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func signed(_ request: S3Signature.Request) -> String? {
        signature.headers(for: request, at: date).first { $0.name == "authorization" }?.value
    }

    @Test func aGetIsSignedAsDocumented() {
        let request = S3Signature.Request(
            method: "GET", host: host, path: "/test.txt", headers: [("range", "bytes=0-9")],
            bodyDigest: emptyDigest)
        #expect(
            signed(request)
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func aPutIsSignedAsDocumented() {
        let request = S3Signature.Request(
            method: "PUT", host: host,
            path: "/" + S3Signature.percentEncoded("test$file.text", keepsSlashes: true),
            headers: [
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            bodyDigest: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        #expect(
            signed(request)?.hasSuffix(
                "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
                == true)
    }

    @Test func aListIsSignedAsDocumented() {
        let request = S3Signature.Request(
            method: "GET", host: host, path: "/", query: [("max-keys", "2"), ("prefix", "J")],
            bodyDigest: emptyDigest)
        #expect(
            signed(request)?.hasSuffix(
                "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
                == true)
    }

    @Test func addressesAreDividedIntoBucketAndPrefix() throws {
        let environment = ["AWS_REGION": "eu-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"]
        let location = try S3Storage.Location("s3://b/some/where/", environment: environment)
        #expect(location.bucket == "b" && location.prefix == "some/where")
        #expect(location.region == "eu-1" && location.endpoint == "http://127.0.0.1:1")
        #expect(try S3Storage.Location("s3://b", environment: [:]).prefix == "")
        #expect(throws: (any Error).self) { try S3Storage.Location("s3:///x", environment: [:]) }
        #expect(throws: (any Error).self) { try S3Storage.Location("/x", environment: [:]) }
    }

    /// Whether or not there are credentials.
    @Test func whatIsNoAddressIsToldFirst() throws {
        let error = #expect(throws: RoostError.self) { try S3Storage("http://b/some/where") }
        #expect(error?.message.contains("s3://bucket/prefix") == true)
    }

    /// Where the objects of bucket `b` are at an endpoint.
    private func place(_ endpoint: String?, bucket: String = "b") -> String {
        let client = S3Client(
            location: .init(bucket: bucket, endpoint: endpoint), timeout: .seconds(1),
            credentials: { S3Credentials(accessKeyID: "a", secretAccessKey: "s") })
        let place = client.place
        return "\(place.scheme)://\(place.host)\(place.root)"
    }

    @Test func emptyVariablesCountAsNotSet() throws {
        let environment = [
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "",
            "AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-2", "AWS_ENDPOINT_URL_S3": "",
            "AWS_ENDPOINT_URL": "",
        ]
        let location = try S3Storage.Location("s3://b", environment: environment)
        #expect(location.region == "eu-2" && location.endpoint == nil)
        #expect(try S3Credentials.fromEnvironment(environment).sessionToken == nil)
        #expect(throws: (any Error).self) {
            try S3Credentials.fromEnvironment([
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "s",
            ])
        }
    }

    @Test func anEmptyEndpointIsThatOfAmazon() {
        #expect(place(nil) == "https://b.s3.us-east-1.amazonaws.com")
        #expect(place("") == "https://b.s3.us-east-1.amazonaws.com")
        #expect(place("://") == "https:///b")
        #expect(place("/") == "https:///b")
    }

    @Test func aRegionInChinaHasADomainOfItsOwn() {
        let client = S3Client(
            location: .init(bucket: "b", region: "cn-north-1"), timeout: .seconds(1)
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        #expect(client.place.host == "b.s3.cn-north-1.amazonaws.com.cn")
    }

    @Test func anEndpointsPathIsWhereItsBucketsAre() {
        #expect(place("https://h/s3") == "https://h/s3/b")
        #expect(place("http://h:80/a/b//") == "http://h/a/b/b")
        #expect(place("h:443/s3/") == "https://h/s3/b")
    }

    /// There is no certificate for such a bucket's host.
    @Test func aBucketOfAmazonWithADotIsAPath() {
        #expect(place(nil, bucket: "my.b") == "https://s3.us-east-1.amazonaws.com/my.b")
        #expect(place("https://h", bucket: "my.b") == "https://h/my.b")
    }

    @Test func theHostThatIsSignedHasThePortThatIsSent() {
        #expect(place("https://h:443") == "https://h/b")
        #expect(place("HTTPS://h:443/") == "https://h/b")
        #expect(place("http://h:80") == "http://h/b")
        #expect(place("h:443") == "https://h/b")
        #expect(place("http://h:443") == "http://h:443/b")
        #expect(place("https://h:8443") == "https://h:8443/b")
        #expect(place("https://h:80") == "https://h:80/b")
    }

    @Test func listsAreReadWithNamesThatWereEscaped() throws {
        let text = """
            <?xml version="1.0"?><ListBucketResult xmlns="x"><IsTruncated>true</IsTruncated>
            <Contents><Key>p/a&amp;b</Key><Size>7</Size></Contents>
            <NextContinuationToken>t</NextContinuationToken></ListBucketResult>
            """
        let listing = try S3Listing(Array(text.utf8), dropping: 2)
        #expect(listing.objects == [StoredObject(name: "a&b", sizeBytes: 7)])
        #expect(listing.continuation == "t")
        #expect(throws: (any Error).self) { try S3Listing(Array("<Error/>".utf8), dropping: 0) }
        // As an answer is whose connection breaks: objects that it lacks are not taken for none.
        for count in 1..<(text.utf8.count - 1) {
            let part = Array(text.utf8.prefix(count))
            #expect(throws: (any Error).self) { try S3Listing(part, dropping: 2) }
        }
    }
}
