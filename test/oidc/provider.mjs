/** A real OpenID provider on loopback: `provider.mjs PORT REDIRECT_URI`. `POST /test/people` sets the claims of people by name. */
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [port, redirectUri] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
let people = {};

const provider = new Provider(issuer, {
  clients: [{ client_id: 'modelport', client_secret: 'client-secret', redirect_uris: [redirectUri] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
  scopes: ['openid', 'email', 'profile', 'groups'],
  cookies: { keys: ['cookie-key'] },
  pkce: { required: () => true },
  findAccount: (_, sub) => people[sub] && { accountId: sub, claims: () => ({ sub, ...people[sub] }) },
});

const answer = provider.callback();
createServer(async (request, response) => {
  if (request.url !== '/test/people') return answer(request, response);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  people = JSON.parse(Buffer.concat(chunks).toString());
  response.end('{}');
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
