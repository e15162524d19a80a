import { endpoints as people } from './console-endpoints.ts'
import type { Endpoint } from './endpoint.ts'
import { machines } from './endpoints/machines.ts'
import { HttpServiceForm } from './http-service-form.ts'

/** Every call of the API: where it is, what it is about, who may make it, what it takes and what it answers. */
export const endpoints = {
  ...people,
  ...machines,
  createHttpService: { ...people.createHttpService, body: HttpServiceForm },
  updateHttpService: { ...people.updateHttpService, body: HttpServiceForm },
} as const satisfies Record<string, Endpoint>
