// The token with which a server connects without the user's approval.

/** Returns the token of this browser profile. */
export async function getToken() {
  const { token } = await chrome.storage.local.get("token");
  return token ?? (await replaceToken());
}

/** Replaces the token: the previous one is invalid from now on. */
export async function replaceToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const token = btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => ({ "+": "-", "/": "_" })[char] ?? "");
  await chrome.storage.local.set({ token });
  return token;
}

/** Whether a server has the right token. */
export async function isToken(given) {
  return given === (await getToken());
}
