import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { approveDevice, beginDevice, denyDevice, readDevice } from '../core/programs/device-sign-in.ts'
import { arrivalOf } from '../http/auth.ts'
import { formRoute, route } from '../http/route.ts'

/** Signing in the command by a browser. */
export function deviceRoutes(app: FastifyInstance): void {
  route(app, endpoints.beginDevice, ({ context, body, request }) =>
    beginDevice(context, body.client, arrivalOf(request)),
  )
  route(app, endpoints.pollDevice, ({ context, body }) => context.devices.poll(body.device_code))
  route(app, endpoints.readDevice, ({ context, caller, body, request }) =>
    readDevice(context, caller, body.code, arrivalOf(request)),
  )
  formRoute(app, endpoints.approveDevice, ({ context, actor, caller, patch, request }) =>
    approveDevice(context, actor, caller, arrivalOf(request), patch),
  )
  route(app, endpoints.denyDevice, ({ context, caller, body, request }) => {
    denyDevice(context, caller, body.code, arrivalOf(request))
    return {}
  })
}
