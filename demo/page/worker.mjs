// Keepsake's own worker. It also tells the page when the WebAssembly module is compiled, which nobody
// else can see, on a channel that is called as the worker is.
import "keepsake/worker";

const { compileStreaming } = WebAssembly;

WebAssembly.compileStreaming = async (response) => {
  const module = await compileStreaming.call(WebAssembly, response);
  const channel = new BroadcastChannel(self.name);
  channel.postMessage(performance.timeOrigin + performance.now());
  channel.close();
  return module;
};
