// What each test's Worker exports by default: methods, by the path of a request.

export function serve(methods) {
  return {
    async fetch(request, env) {
      const method = new URL(request.url).pathname.slice(1);
      try {
        const args = await request.json();
        return Response.json((await methods[method](env, ...args)) ?? null);
      } catch (error) {
        return new Response(error?.stack ?? String(error), { status: 500 });
      }
    },
  };
}

/** The error of a call, as it can be sent; undefined if there is none. */
export async function refusal(call) {
  try {
    await call();
  } catch (error) {
    return { code: error.code, message: error.message, cause: error.cause?.message };
  }
  return undefined;
}
