import { type Static, Type } from 'typebox';
import { PageReply } from '../http/pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';

export const Project = Type.Object({ id: Uuid, name: Type.String(), slug: Type.String(), createdAt: Timestamp });
export type Project = Static<typeof Project>;

export const ProjectInput = Body({ name: Name });
export const ProjectReply = Type.Object({ project: Project });
export const ProjectList = Type.Object({ projects: Type.Array(Project), ...PageReply });
