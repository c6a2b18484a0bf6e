/** E-mail by SMTP. */

export interface Mail {
  /** Stays the same when it is sent again, so that mail programs can recognize it. */
  messageId: string;
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
}

/**
 * `server`: `smtp://user:password@host:587` (STARTTLS where the server offers it) or `smtps://…:465`. Throws an Error, without the password,
 * if the server does not take it within `timeoutMs`, or `signal` gives it up.
 */
export type SendMail = (server: string, mail: Mail, timeoutMs: number, signal: AbortSignal) => Promise<void>;

const CLOSE_MS = 500;

export const sendMail: SendMail = async (server, { messageId, from, to, subject, text }, timeoutMs, signal) => {
  // Loaded on first use: few gateways send mail.
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port, username, password } = new URL(server);
  const user = decodeURIComponent(username);
  const pass = decodeURIComponent(password);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    secure: protocol === 'smtps:',
    ...(port !== '' && { port: Number(port) }),
    ...(username !== '' && { auth: { user, pass } }),
    // What is given up is closed soon although the server keeps its side open.
    socketCloseTimeout: CLOSE_MS,
    // What is sent must not make this process read files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // One limit for everything: the library's own begin again with each line of a server.
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  try {
    await transport.sendMail({ messageId, from, to: [...to], subject, text, signal: either });
  } catch (thrown) {
    if (timeout.aborted) throw new Error(`The server did not take the mail within ${timeoutMs} ms.`);
    throw new Error(withoutPassword(thrown instanceof Error ? thrown.message : String(thrown), user, pass));
  } finally {
    transport.close();
  }
};

/** A server's refusal may repeat what it was sent, also as it was sent (RFC 4616, RFC 4954). */
function withoutPassword(message: string, user: string, pass: string): string {
  if (pass === '') return message;
  const sent = [`\0${user}\0${pass}`, pass].map((text) => Buffer.from(text).toString('base64'));
  return [...sent, encodeURIComponent(pass), pass].reduce(
    (left, secret) => left.replaceAll(secret, '[removed]'),
    message,
  );
}
