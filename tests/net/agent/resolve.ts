import { Resolver } from 'node:dns/promises'

/** Prints the address that a name server has for a name, or the code of the failure. */

const [, , server = '', name = '', local] = process.argv
const resolver = new Resolver({ timeout: 3500, tries: 1 })
resolver.setServers([server])
if (local) resolver.setLocalAddress(local)
console.log(
  await resolver.resolve4(name).then(
    ([address]) => address,
    (error) => error.code,
  ),
)
