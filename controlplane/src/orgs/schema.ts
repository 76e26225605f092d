import { Type } from 'typebox';
import { OrganizationWithRole } from '../auth/schema.js';
import { Body, PublicName } from '../http/schema.js';

export const OrganizationInput = Body({ name: PublicName });
export const OrganizationReply = Type.Object({ org: OrganizationWithRole });
