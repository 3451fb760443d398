import {
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import type { Instance } from './instance.ts'

/** Who made what is exported. */
export interface Origin {
  readonly resource: Resource
  readonly scope: { readonly name: string; readonly version: string }
}

const NAME = 'unified-model-gateway'

/** The origin of what a gateway exports. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override the gateway's own attributes. */
export function originOf({ id }: Instance, version: string): Origin {
  const own = { 'service.name': NAME, 'service.version': version, 'service.instance.id': id }
  const configured = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  return { resource: resourceFromAttributes(own).merge(configured), scope: { name: NAME, version } }
}
