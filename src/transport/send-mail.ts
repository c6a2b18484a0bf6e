/** E-mail by SMTP. */

export interface Mail {
  /** Stays the same when it is sent again, so that mail programs can recognize it. */
  messageId: string;
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
}

/** `server`: `smtp://user:password@host:587` (STARTTLS where the server offers it) or `smtps://…:465`. Throws an Error if the server does not take it. */
export type SendMail = (server: string, mail: Mail, timeoutMs: number) => Promise<void>;

export const sendMail: SendMail = async (server, { messageId, from, to, subject, text }, timeoutMs) => {
  // Loaded on first use: few gateways send mail.
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port, username, password } = new URL(server);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    secure: protocol === 'smtps:',
    ...(port !== '' && { port: Number(port) }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // What is sent must not make this process read files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ messageId, from, to: [...to], subject, text });
  } finally {
    transport.close();
  }
};
