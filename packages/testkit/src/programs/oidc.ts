import { startOidcIssuer } from '../fakes/oidc-issuer.ts'

/**
 * A real OpenID provider at a port of loopback, whose accounts are given as JSON. It prints the path of each request.
 * Usage: node oidc.ts PORT REDIRECT-URL ACCOUNTS
 */
const [port, redirectUrl = '', accounts = '{}'] = process.argv.slice(2)
const issuer = await startOidcIssuer([redirectUrl], { port: Number(port) })
for (const [name, account] of Object.entries<object>(JSON.parse(accounts))) issuer.accounts.set(name, account)
issuer.onRequest((path) => console.log(path))
