import { createServer } from 'node:http'
import { BlockList } from 'node:net'

/**
 * Answers like Home Assistant to requests that a proxy has forwarded: 400 unless it trusts the proxy, else with the
 * visitor's address. Usage: node home-assistant.ts PORT [TRUSTED_NETWORK…]
 */
const [port, ...trusted] = process.argv.slice(2)

const isTrusted = new BlockList()
for (const network of trusted) {
  const [address = '', length] = network.split('/')
  isTrusted.addSubnet(address, Number(length))
}

createServer((request, response) => {
  const forwarded = request.headers['x-forwarded-for']
  const isRefused = forwarded !== undefined && !isTrusted.check(request.socket.remoteAddress ?? '')
  response.writeHead(isRefused ? 400 : 200, { 'content-type': 'text/plain' })
  response.end(isRefused ? '400: Bad Request' : `Home Assistant for ${forwarded}`)
}).listen(Number(port), '0.0.0.0')
