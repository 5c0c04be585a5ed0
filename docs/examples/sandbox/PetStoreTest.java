// A JUnit 5 test. One sandbox for the class; with parallel forks, each has its own.
import static org.junit.jupiter.api.Assertions.*;

import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.util.regex.*;
import org.junit.jupiter.api.*;

class PetStoreTest {
  static final String SANDBOX = "npx --no petstore sandbox --quiet --with-stdin --pets 50";
  static final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  static Process sandbox;
  static String url, key, control;

  @BeforeAll
  static void start() throws IOException {
    sandbox = new ProcessBuilder(SANDBOX.split(" ")).start();
    var line = sandbox.inputReader().readLine();
    url = member(line, "url");
    key = member(line, "key");
    control = member(line, "control");
  }

  static String member(String json, String name) {
    var found = Pattern.compile("\"" + name + "\":\"(.*?)\"").matcher(json);
    assertTrue(found.find(), json);
    return found.group(1);
  }

  @BeforeEach
  void reset() throws Exception {
    send("POST", control + "/reset", "");
  }

  @AfterAll
  static void stop() throws Exception {
    sandbox.getOutputStream().close(); // ends the sandbox
    sandbox.waitFor();
  }

  static String send(String method, String url, String body, String... fields) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url))
        .method(method, HttpRequest.BodyPublishers.ofString(body))
        .header("Content-Type", "application/json");
    if (fields.length > 0) request.headers(fields);
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
  }

  // The client under test.
  static String addPet(String pet, String idempotencyKey) throws Exception {
    for (int attempt = 1;; attempt++) {
      try {
        return send("POST", url + "/pets", pet,
            "Authorization", "Bearer " + key, "Idempotency-Key", idempotencyKey);
      } catch (IOException noAnswer) {
        if (attempt == 3) throw noAnswer; // otherwise send it again, with the same key
      }
    }
  }

  @Test
  void aCreateWhoseAnswerWasLostAddsOnePet() throws Exception {
    send("POST", control + "/faults",
        "{\"when\":{\"method\":\"POST\"},\"lose\":true,\"work\":true}");
    assertTrue(addPet("{\"name\":\"Rex\",\"categoryId\":1}", "a").startsWith("{\"id\":51,"));
    var requests = send("GET", control + "/requests", "");
    var statuses = Pattern.compile("\"status\":(\\w+)").matcher(requests).results()
        .map(match -> match.group(1)).toList();
    assertEquals(java.util.List.of("null", "201"), statuses);
  }
}
