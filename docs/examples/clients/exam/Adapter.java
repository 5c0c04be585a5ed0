import com.google.gson.*;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;

public class Adapter {
  static String env(String name) { return System.getenv("PETSTORE_" + name); }
  static HttpURLConnection ask(String method, URL url, String body) throws IOException {
    var connection = (HttpURLConnection) url.openConnection();
    int timeout = Integer.parseInt(env("TIMEOUT_MS"));
    connection.setConnectTimeout(timeout);
    connection.setReadTimeout(timeout);
    connection.setRequestMethod(method);
    connection.setRequestProperty("Authorization", "Bearer " + env("KEY"));
    if (body != null) {
      connection.setDoOutput(true);
      connection.setRequestProperty("Content-Type", "application/json");
      connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    }
    if (connection.getResponseCode() / 100 != 2) throw new IOException("HTTP " + connection.getResponseCode());
    return connection;
  }
  static JsonElement read(HttpURLConnection connection) throws IOException {
    try (var input = connection.getInputStream()) {
      return JsonParser.parseString(new String(input.readAllBytes(), StandardCharsets.UTF_8));
    }
  }
  public static void main(String[] args) throws Exception {
    var pets = env("URL") + "/pets";
    JsonElement result;
    switch (env("CALL")) {
      case "createPet": result = read(ask("POST", new URL(pets), env("PET"))).getAsJsonObject(); break;
      case "getPet": result = read(ask("GET", new URL(pets + "/" + env("ID")), null)).getAsJsonObject(); break;
      case "listPets": result = read(ask("GET", new URL(pets + "?limit=" + env("LIMIT")), null)).getAsJsonArray(); break;
      default:
        var all = new JsonArray();
        var url = new URL(pets + "?limit=" + env("LIMIT"));
        while (url != null) {
          var page = ask("GET", url, null);
          all.addAll(read(page).getAsJsonArray());
          var link = page.getHeaderField("Link");
          url = link == null ? null : new URL(pets + link.substring(link.indexOf('?'), link.indexOf('>')));
        }
        result = all;
    }
    System.out.println(result);
  }
}
